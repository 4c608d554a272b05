import { nodeCredentialsRoute } from "../pod-identity-agent/node-credentials.ts";
import { pathOf } from "./aws/credential-scope.ts";
import { jsonResponse } from "./aws/http.ts";
import type { Store } from "./eks/store.ts";
import type { Handler } from "./listeners.ts";
import type { ServiceSession, SessionCredentials } from "./sts/service-session.ts";

/** Gives a node, by `GET /nodes/<cluster>/<number>/credentials`, credentials of the role of its node group, or of EKS Auto Mode's nodes, as EC2's metadata service does. */
export function nodeMetadata(
  store: Pick<Store, "find">,
  assume: (session: ServiceSession) => Promise<SessionCredentials>,
): Handler {
  return async ({ url }) => {
    const path = pathOf(url);
    const asked = nodeCredentialsRoute(path);
    const record = store.find(asked?.cluster ?? "");
    const groups = [
      ...Object.values(record?.nodegroups ?? {}).map(({ nodegroup, nodes }) => ({
        roleArn: nodegroup.nodeRole,
        nodes,
      })),
      { roleArn: record?.cluster.computeConfig?.nodeRoleArn ?? "", nodes: record?.autoNodes ?? [] },
    ];
    for (const { roleArn, nodes } of groups) {
      const node = nodes.find(({ number }) => number === asked?.node);
      if (node === undefined) continue;
      const { role: _, ...credentials } = await assume({
        service: "ec2.amazonaws.com",
        roleArn,
        sessionName: node.instanceId,
      });
      return jsonResponse(200, credentials);
    }
    return jsonResponse(404, { message: `there is no node at ${path}` });
  };
}
