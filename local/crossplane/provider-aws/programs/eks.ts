import { eksResources } from "../../../aws/eks/index.ts";
import { clusterAuth } from "../cluster-auth.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("eks", kindsOf([...eksResources, clusterAuth]));
