import { s3Resources } from "../../../aws/s3.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("s3", kindsOf(s3Resources));
