import * as sdk from "@aws-sdk/client-amp";
import type { HttpRequest, HttpResponse } from "../aws/http.ts";
import { type Authorizer, restApi } from "../aws/rest-api.ts";
import { alertManagerOperations } from "./alert-manager.ts";
import { dataPlane, isDataPlane } from "./data-plane.ts";
import { invalid, unknownOperation } from "./errors.ts";
import type { ApsContext } from "./operation.ts";
import { ruleGroupsOperations } from "./rule-groups.ts";
import { findTagged, tagOperations } from "./tags.ts";
import { workspaceOperations } from "./workspaces.ts";

/** Every operation that the gateway serves of the API that manages workspaces. */
export const OPERATIONS = [
  ...workspaceOperations,
  ...ruleGroupsOperations,
  ...alertManagerOperations,
  ...tagOperations,
];

const controlPlane = restApi<ApsContext>({
  name: "Amazon Managed Service for Prometheus",
  sdk,
  operations: OPERATIONS,
  invalid,
  unknown: unknownOperation,
  tagsOf: (context, arn) => findTagged(context, arn)?.tags,
});

/** Answers a request of Amazon Managed Service for Prometheus. */
export const apsApi = (request: HttpRequest, context: ApsContext, by: Authorizer): Promise<HttpResponse> =>
  isDataPlane(request) ? dataPlane(request, context, by) : controlPlane(request, context, by);
