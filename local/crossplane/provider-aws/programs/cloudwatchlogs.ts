import { cloudwatchlogsResources } from "../../../aws/cloudwatchlogs.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("cloudwatchlogs", kindsOf(cloudwatchlogsResources));
