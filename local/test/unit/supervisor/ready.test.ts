import { join } from "node:path";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tryProbe, untilReady } from "../../../supervisor/ready.ts";
import { scratch } from "../../support/scratch.ts";

const method = "/runtime.v1.RuntimeService/Version";
const bytes = (message: Buffer) => message;
const server = new Server();
let folder: string;
let unix: string;
/** How often the server says that it is not initialized before it answers. */
let refusals = 0;

beforeAll(async () => {
  folder = scratch("fleet-ready-");
  unix = join(folder, "containerd.sock");
  const definition = {
    path: method,
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  server.addService(
    { version: definition },
    {
      version: (_call: unknown, callback: (error: object | null, answer?: Buffer) => void) =>
        refusals-- > 0
          ? callback({ code: status.UNKNOWN, details: "server is not initialized yet" })
          : callback(null, Buffer.alloc(0)),
    },
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${unix}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
});
afterAll(async () => {
  server.forceShutdown();
});

test("a container runtime that serves, but is not initialized, is not ready: the probe says so and goes on until it answers", async () => {
  refusals = 1;
  await expect(tryProbe({ grpc: { unix, method } })).rejects.toThrow(
    `${method} of ${unix}: 2 UNKNOWN: server is not initialized yet`,
  );
  refusals = 2;
  expect(await untilReady({ grpc: { unix, method } }, AbortSignal.timeout(20_000))).toBeUndefined();
});

test("a socket that nobody serves is not ready", async () => {
  const nobody = join(folder, "nobody.sock");
  await expect(tryProbe({ grpc: { unix: nobody, method } })).rejects.toThrow(nobody);
});
