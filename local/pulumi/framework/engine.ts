/** The engine's side of a plugin: messages to the terminal. */
import { credentials } from "@grpc/grpc-js";
import enginegrpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import enginepb from "@pulumi/pulumi/proto/engine_pb.js";
import type { Log } from "./provider.ts";

/** Makes the log of one resource (by URN) or of the provider (empty URN). */
export type LogFactory = (urn: string) => Log;

/**
 * Logs over the engine's gRPC service.
 * @param address `host:port` of the engine; undefined: everything but debug messages goes to stderr, which the engine also shows.
 */
export function connectEngine(address: string | undefined): { log: LogFactory; close: () => void } {
  if (!address) return { log: stderrLog, close: () => {} };
  const client = new enginegrpc.EngineClient(address, credentials.createInsecure());
  const send = (urn: string, severity: number, message: string, ephemeral: boolean) => {
    const request = new enginepb.LogRequest();
    request.setUrn(urn);
    request.setSeverity(severity);
    request.setMessage(message);
    request.setEphemeral(ephemeral);
    // The engine may be gone already while a cancelled operation still reports: then there is nobody to tell.
    client.log(request, (error) => {
      if (error && !ephemeral) process.stderr.write(`${message}\n`);
    });
  };
  const { DEBUG, INFO, WARNING } = enginepb.LogSeverity;
  const log: LogFactory = (urn) => ({
    debug: (message) => send(urn, DEBUG, message, false),
    warning: (message) => send(urn, WARNING, message, false),
    status: whenChanged((message) => send(urn, INFO, message, true)),
  });
  return { log, close: () => client.close() };
}

function stderrLog(urn: string): Log {
  const write = (message: string) => void process.stderr.write(`${urn ? `${urn}: ` : ""}${message}\n`);
  return { debug: () => {}, warning: write, status: whenChanged(write) };
}

/** Waits say the same thing again and again: once is enough. */
function whenChanged(write: (message: string) => void): (message: string) => void {
  let last: string | undefined;
  return (message) => {
    if (message !== last) write(message);
    last = message;
  };
}
