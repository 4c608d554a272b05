import { iamResources } from "../../../aws/iam/index.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("iam", kindsOf(iamResources));
