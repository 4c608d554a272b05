// `main.ts <address> <port> <kubectl>`: takes the calls of webhooks for the clusters of an instance. Under the supervisor.
import { once } from "node:events";
import { createIngress } from "./ingress.ts";
import { receiverForward } from "./process.ts";

const [address, port, kubectl] = process.argv.slice(2);
if (kubectl === undefined) throw new Error("usage: main.ts <address> <port> <kubectl>");
const server = createIngress((context) => receiverForward(kubectl, context));
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
await once(server.listen(Number(port), address), "listening");
console.log(`webhooks are taken on http://${address}:${port}`);
