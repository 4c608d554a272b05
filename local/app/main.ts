// `main.ts <address> <port> <what> <kubectl port-forward command>`: shows an application of a cluster on this machine. Under the supervisor.
import { serve } from "../server.ts";
import { createForwarder } from "./forward.ts";

const [address, port, what = "the application", program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error("usage: main.ts <address> <port> <what> <command>");
const server = createForwarder(what, [program, ...args]);
await serve(server, address, Number(port));
console.log(`${what} answers on http://${address}:${port}`);
