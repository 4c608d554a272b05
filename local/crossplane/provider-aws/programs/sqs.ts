import { sqsResources } from "../../../aws/sqs.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("sqs", kindsOf(sqsResources));
