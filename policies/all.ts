import { eksPolicies } from "./eks.ts";
import { iamPolicies } from "./iam.ts";
import { kubernetesPolicies } from "./kubernetes.ts";
import { networkPolicies } from "./network.ts";
import { secretPolicies } from "./secrets.ts";
import { stackPolicies } from "./stack.ts";
import { tagPolicies } from "./tags.ts";

/** Every policy of the pack, by subject. */
export const subjects = {
  EKS: eksPolicies,
  IAM: iamPolicies,
  "Secrets Manager and KMS": secretPolicies,
  Network: networkPolicies,
  Kubernetes: kubernetesPolicies,
  "Tags and names": tagPolicies,
  "Whole stack": stackPolicies,
};

export const policies = Object.values(subjects).flat();
