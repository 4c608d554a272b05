import { EKSClient } from "@aws-sdk/client-eks";
import { STSClient } from "@aws-sdk/client-sts";
import { eksResources } from "../../../aws/eks/index.ts";
import { clusterAuth } from "../cluster-auth.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram({
  group: "eks",
  kinds: kindsOf([...eksResources, clusterAuth]),
  classes: { eks: EKSClient, sts: STSClient },
});
