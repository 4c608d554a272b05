import { credentialScope } from "../aws/credential-scope.ts";
import type { HttpRequest } from "../aws/http.ts";

/** Whether a call may change load balancers, their listeners or targets. */
export const changesBalancers = (request: HttpRequest): boolean =>
  credentialScope(request)?.service === "elasticloadbalancing" &&
  !/(^|&)Action=Describe/.test(request.body.toString("latin1"));
