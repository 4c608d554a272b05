// `main.ts <cluster> <node> <region> <endpoint> <metadata socket> <ready socket>`: the EKS Pod Identity Agent of a node. Under the supervisor.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { parseClusterId } from "../instance/cluster-id.ts";
import { serve } from "../server.ts";
import { AGENT_ADDRESS } from "./address.ts";
import { podIdentityAgent } from "./agent.ts";
import { nodeCredentialsFrom } from "./node-credentials.ts";

/** As upstream. */
const PORT = 80;

const [cluster, node, region, endpoint, metadataSocket, readySocket] = process.argv.slice(2) as (string | undefined)[];
if (!cluster || !node || !region || !endpoint || !metadataSocket || !readySocket)
  throw new Error("usage: main.ts <cluster> <node> <region> <endpoint> <metadata socket> <ready socket>");
const nodeCredentials = nodeCredentialsFrom({ socket: metadataSocket, cluster, node: Number(node) });
const named = { cluster: parseClusterId(cluster).name, region, endpoint };
await serve(podIdentityAgent({ ...named, nodeCredentials, log: console.log }), AGENT_ADDRESS, PORT);
// Nobody outside of the node's network reaches the address above: who waits for it asks this socket. A killed run leaves it.
await rm(readySocket, { force: true });
const ready = createServer((socket) => socket.end()).listen(readySocket);
await once(ready, "listening");
ready.unref();
console.log(`pods of node ${node} of ${cluster} get credentials on http://${AGENT_ADDRESS}:${PORT}`);
