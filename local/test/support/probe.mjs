// Run by a test inside another network namespace; prints one word or address. What it asks with is Node.js alone.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";

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
  // "answered", or the error's code.
  datagram: (host, port) =>
    new Promise((resolve) => {
      const socket = createSocket("udp4");
      socket.once("message", () => resolve("answered"));
      socket.once("error", ({ code }) => resolve(code));
      socket.connect(Number(port), host, () => socket.send("?"));
      setTimeout(() => resolve("ETIMEDOUT"), SECONDS * 1000);
    }),
  // The answer to a GET with what a file holds as its Authorization: status and body, as JSON.
  get: async (url, file) => {
    const authorization = await readFile(file, "utf8");
    const answer = await fetch(url, { headers: { authorization }, signal: AbortSignal.timeout(SECONDS * 1000) });
    return JSON.stringify({ status: answer.status, body: await answer.text() });
  },
  // Takes connections and answers datagrams on these ports, until it is killed; says when it does.
  listen: async (host, ...ports) => {
    for (const port of ports) {
      const server = createServer((connection) => connection.on("error", () => {}).end()).listen(Number(port), host);
      const datagrams = createSocket("udp4");
      datagrams.on("message", (_, from) => datagrams.send("!", from.port, from.address));
      datagrams.bind(Number(port), host);
      await Promise.all([once(server, "listening"), once(datagrams, "listening")]);
    }
    console.log("listening");
    await new Promise(() => {});
  },
};

const [probe, ...args] = process.argv.slice(2);
console.log(await probes[probe](...args));
process.exit();
