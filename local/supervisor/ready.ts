import { readFile } from "node:fs/promises";
import { connect, type NetConnectOpts } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../instance/command.ts";
import { exchange } from "../instance/exchange.ts";
import type { Probe } from "./spec.ts";

const INTERVAL_MS = 100;
const ATTEMPT_MS = 5000;

/** Tries a probe until it succeeds; gives undefined then, or the last problem once `signal` is aborted. */
export async function untilReady(probe: Probe, signal: AbortSignal): Promise<string | undefined> {
  let problem = "it was not tried";
  while (!signal.aborted) {
    try {
      await tryProbe(probe);
      return undefined;
    } catch (error) {
      problem = (error as Error).message || String((error as NodeJS.ErrnoException).code);
    }
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
  return problem;
}

/** Tries a probe once; rejects when the process isn't ready. */
export async function tryProbe(probe: Probe): Promise<void> {
  if ("tcp" in probe) return await accepts(probe.tcp);
  if ("unix" in probe) return await accepts({ path: probe.unix });
  if ("http" in probe) return await answers(probe.http);
  if ("grpc" in probe) return await answersEmpty(probe.grpc);
  await run(probe.command);
}

function accepts(address: NetConnectOpts): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...address, timeout: ATTEMPT_MS });
    const end = (error?: Error) => {
      socket.destroy();
      error ? reject(error) : resolve();
    };
    socket.once("connect", () => end());
    socket.once("timeout", () => end(new Error("connection timed out")));
    socket.once("error", end);
  });
}

async function answers({ url, caFile }: Extract<Probe, { http: unknown }>["http"]): Promise<void> {
  const ca = caFile === undefined ? {} : { ca: await readFile(caFile) };
  const { status } = await exchange(url, { ...ca, timeout: ATTEMPT_MS }).catch((error: Error) => {
    throw new Error(`GET ${url}: ${error.message || (error as NodeJS.ErrnoException).code}`);
  });
  if (status !== 200) throw new Error(`GET ${url} answered ${status}, not 200`);
}

async function answersEmpty({ unix, method }: Extract<Probe, { grpc: unknown }>["grpc"]): Promise<void> {
  // Only when asked: most processes of an instance have no such probe.
  const { Client, credentials } = await import("@grpc/grpc-js");
  const client = new Client(`unix://${unix}`, credentials.createInsecure());
  const bytes = (message: Buffer) => message;
  const options = { deadline: Date.now() + ATTEMPT_MS };
  try {
    await new Promise<void>((resolve, reject) => {
      const done = (error: Error | null) => (error ? reject(error) : resolve());
      client.makeUnaryRequest(method, bytes, bytes, Buffer.alloc(0), options, done);
    });
  } catch (error) {
    throw new Error(`${method} of ${unix}: ${(error as Error).message}`);
  } finally {
    client.close();
  }
}
