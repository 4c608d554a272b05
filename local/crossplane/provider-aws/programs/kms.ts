import { kmsResources } from "../../../aws/kms.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("kms", kindsOf(kmsResources));
