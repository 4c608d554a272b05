import { rdsResources } from "../../../aws/rds.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("rds", kindsOf(rdsResources));
