import { nodeCredentialsRoute } from "../pod-identity-agent/node-credentials.ts";
import { pathOf } from "./aws/credential-scope.ts";
import { jsonResponse } from "./aws/http.ts";
import type { Store } from "./eks/store.ts";
import type { Handler } from "./listeners.ts";
import type { ServiceSession, SessionCredentials } from "./sts/service-session.ts";

/**
 * Gives a node, by `GET /nodes/<cluster>/<number>/credentials`, credentials of the role of its node group, of EKS Auto Mode's nodes or of its
 * instance profile, as EC2's metadata service does.
 */
export function nodeMetadata(
  store: Pick<Store, "find">,
  assume: (session: ServiceSession) => Promise<SessionCredentials>,
): Handler {
  return async ({ url }) => {
    const path = pathOf(url);
    const asked = nodeCredentialsRoute(path);
    const record = store.find(asked?.cluster ?? "");
    const { nodegroups = {}, autoNodes = [], selfManagedNodes = [] } = record ?? {};
    const ofGroups = Object.values(nodegroups).flatMap(({ nodegroup, nodes }) =>
      nodes.map((node) => ({ ...node, role: nodegroup.nodeRole })),
    );
    const ofAutoMode = autoNodes.map((node) => ({ ...node, role: record?.cluster.computeConfig?.nodeRoleArn }));
    const found = [...ofGroups, ...ofAutoMode, ...selfManagedNodes].find(({ number }) => number === asked?.node);
    if (found === undefined) return jsonResponse(404, { message: `there is no node at ${path}` });
    const session = { service: "ec2.amazonaws.com", roleArn: found.role ?? "", sessionName: found.instanceId };
    const { role: _, ...credentials } = await assume(session);
    return jsonResponse(200, credentials);
  };
}
