import * as sdk from "@aws-sdk/client-eks";
import { operationOf, restApi } from "../aws/rest-api.ts";
import { accessEntryOperations } from "./access-entries.ts";
import { accessPolicyOperations } from "./access-policies.ts";
import { addonVersionOperations } from "./addon-versions.ts";
import { addonOperations } from "./addons.ts";
import { clusterUpdateOperations } from "./cluster-updates.ts";
import { clusterOperations } from "./clusters.ts";
import { invalidParameter, invalidRequest } from "./errors.ts";
import { nodegroupUpdateOperations } from "./nodegroup-updates.ts";
import { nodegroupOperations } from "./nodegroups.ts";
import type { EksContext } from "./operation.ts";
import { podIdentityOperations } from "./pod-identity.ts";
import { findTagged, tagOperations } from "./tags.ts";
import { updateOperations } from "./updates.ts";

/** Every operation that the gateway serves. */
export const OPERATIONS = [
  ...clusterOperations,
  ...clusterUpdateOperations,
  ...updateOperations,
  ...nodegroupOperations,
  ...nodegroupUpdateOperations,
  ...accessEntryOperations,
  ...accessPolicyOperations,
  ...addonOperations,
  ...addonVersionOperations,
  ...podIdentityOperations,
  ...tagOperations,
];

/** Answers a request of the EKS API. */
export const eksApi = restApi<EksContext>({
  name: "EKS",
  sdk,
  operations: OPERATIONS,
  invalid: invalidParameter,
  unknown: invalidRequest,
  tagsOf: (context, arn) => findTagged(context, arn)?.tags,
});

/** Which operation of the EKS API a request is; undefined for one that is not served. */
export const eksOperation = operationOf<EksContext>({ sdk, operations: OPERATIONS });
