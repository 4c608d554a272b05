// Run by a test inside another network namespace; prints one word or address. What it asks with is Node.js alone.
import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";

const SECONDS = 5;

const probes = {
  // "open", or the error's code.
  connect: (host, port) =>
    new Promise((resolve) => {
      const socket = connect({ host, port: Number(port), timeout: SECONDS * 1000 });
      socket.once("connect", () => resolve("open"));
      socket.once("timeout", () => resolve("ETIMEDOUT"));
      socket.once("error", ({ code }) => resolve(code));
    }),
  // The first address of a name, or the error's code.
  resolve: async (server, name) => {
    const resolver = new Resolver({ timeout: SECONDS * 1000, tries: 1 });
    resolver.setServers([server]);
    return await resolver.resolve4(name).then(
      ([address]) => address,
      ({ code }) => code,
    );
  },
  // The status of GET / over TLS for this name at this address, or the error's code.
  get: (name, host, caFile) =>
    new Promise((resolve) => {
      const options = {
        host,
        servername: name,
        headers: { host: name },
        ca: readFileSync(caFile),
        timeout: SECONDS * 1000,
      };
      const call = request(options, (response) => resolve(response.statusCode));
      call.once("timeout", () => resolve("ETIMEDOUT"));
      call.once("error", ({ code }) => resolve(code));
      call.end();
    }),
};

const [probe, ...args] = process.argv.slice(2);
console.log(await probes[probe](...args));
process.exit();
