/** The model of the EKS Auth API (version 2023-11-26), in the form of the SDK's own modules: its client has nothing else that is needed here. */
import type { StructureSchema } from "../aws/request.ts";

const NAMESPACE = "com.amazonaws.eksauth";

const request: StructureSchema = [
  3,
  NAMESPACE,
  "AssumeRoleForPodIdentityRequest",
  0,
  ["clusterName", "token"],
  [[0, 1], 0],
  2,
];

export const model = {
  AssumeRoleForPodIdentity$: [
    9,
    NAMESPACE,
    "AssumeRoleForPodIdentity",
    { http: ["POST", "/clusters/{clusterName}/assume-role-for-pod-identity", 200] },
    () => request,
  ],
} as const;
