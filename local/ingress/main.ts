// `main.ts <address> <port> <kubectl>`: takes the calls of webhooks for the clusters of an instance. Under the supervisor.
import { serve } from "../server.ts";
import { createIngress } from "./ingress.ts";
import { receiverForward } from "./process.ts";

const [address, port, kubectl] = process.argv.slice(2);
if (kubectl === undefined) throw new Error("usage: main.ts <address> <port> <kubectl>");
const server = createIngress((context) => receiverForward(kubectl, context));
await serve(server, address, Number(port));
console.log(`webhooks are taken on http://${address}:${port}`);
