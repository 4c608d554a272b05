// `main.ts <address> <port> <what> <kubectl port-forward command>`: shows an application of a cluster on this machine. Under the supervisor.
import { once } from "node:events";
import { createForwarder } from "./forward.ts";

const [address, port, what = "the application", program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error("usage: main.ts <address> <port> <what> <command>");
const server = createForwarder(what, [program, ...args]);
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
await once(server.listen(Number(port), address), "listening");
console.log(`${what} answers on http://${address}:${port}`);
