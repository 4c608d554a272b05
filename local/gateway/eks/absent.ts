import { type Operation, onCluster, pathPart } from "./operation.ts";

/** Lists of what no cluster here can have: empty is the truth, making one is refused. */
export const absentOperations: readonly Operation[] = [
  list("ListFargateProfiles", "fargate-profiles", "fargateProfileNames"),
  list("ListIdentityProviderConfigs", "identity-provider-configs", "identityProviderConfigs"),
  list("ListCapabilities", "capabilities", "capabilities"),
];

function list(name: string, segment: string, member: string): Operation {
  return {
    name,
    method: "GET",
    path: `/clusters/{name}/${segment}`,
    authorize: onCluster,
    run: (context, call) => {
      context.store.get(pathPart(call, "name"));
      return { [member]: [] };
    },
  };
}
