import { credentialScope } from "./credential-scope.ts";
import type { HttpRequest } from "./http.ts";

/** Whether a call starts or ends instances. */
export const changesInstances = (request: HttpRequest): boolean =>
  credentialScope(request)?.service === "ec2" &&
  /(^|&)Action=(CreateFleet|RunInstances|TerminateInstances)(&|$)/.test(request.body.toString("latin1"));
