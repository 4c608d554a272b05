import { ec2Resources } from "../../../aws/ec2/index.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("ec2", kindsOf(ec2Resources));
