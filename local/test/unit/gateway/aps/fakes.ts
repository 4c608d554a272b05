import { createServer } from "node:http";
import { afterAll, beforeEach } from "vitest";
import { apsApi } from "../../../../gateway/aps/router.ts";
import { RulesRefused, type ServerSettings, type Workspaces } from "../../../../gateway/aps/runtime.ts";
import { startAps } from "../../../../gateway/aps/service.ts";
import { type HttpRequest, jsonResponse } from "../../../../gateway/aws/http.ts";
import { type Handler, listener } from "../../../../gateway/listeners.ts";
import { scratch } from "../../../support/scratch.ts";
import { originOf } from "../../../support/serving.ts";
import { callsOf, place, settling } from "../calls.ts";

const endings: (() => Promise<void> | void)[] = [];

/** What reached a workspace's server. */
interface Got extends Pick<HttpRequest, "method" | "url" | "headers"> {
  readonly body: string;
}

/** Servers of workspaces: one small HTTP server for all. What a test wants to know or to break is public. */
interface FakeWorkspaces extends Workspaces {
  /** What each server runs with. */
  readonly running: Map<string, ServerSettings>;
  readonly got: Got[];
  /** Why there are none. */
  missing: string | undefined;
  /** Whether servers are kept from starting. */
  held: boolean;
  /** Keeps servers from starting until the given function is called. */
  hold(): () => void;
}

async function fakeWorkspaces(): Promise<FakeWorkspaces> {
  const got: Got[] = [];
  const serve: Handler = async ({ method, url, headers, body }) => {
    got.push({ method, url, headers, body: body.toString("latin1") });
    return url.startsWith("/api/v1/write")
      ? { status: 204, headers: {}, body: "" }
      : jsonResponse(200, { status: "success" });
  };
  const address = await originOf(createServer(listener(serve, () => {})));
  let gate: Promise<void> = Promise.resolve();
  let release = () => {};
  endings.push(() => release());
  const workspaces: FakeWorkspaces = {
    running: new Map(),
    got,
    missing: undefined,
    held: false,
    hold: () => {
      gate = new Promise((resolve) => {
        release = resolve;
      });
      workspaces.held = true;
      return () => {
        workspaces.held = false;
        release();
      };
    },
    unavailable: async () => workspaces.missing,
    of: (id) => ({
      address,
      ensure: async (settings) => {
        await gate;
        const wrong = Object.entries(settings.rules).find(([, rules]) => rules.includes("not promql"));
        if (wrong !== undefined) throw new RulesRefused(`${wrong[0]}: could not parse expression`);
        workspaces.running.set(id, settings);
      },
      remove: async () => void workspaces.running.delete(id),
    }),
  };
  return workspaces;
}

/** The API over fakes. */
export type FakeAps = Awaited<ReturnType<typeof fakeAps>>;

/** The API of a test file, made before each test by {@link useAps}. */
export let aps: FakeAps;

/** Makes the API before each test of a file, over these parts if any. */
export function useAps(): void {
  beforeEach(() => restartAps());
  afterAll(async () => {
    for (const end of endings.splice(0)) await end();
  });
}

/** As a gateway that starts, again where it is given what there was. */
export async function restartAps(over?: Parts): Promise<void> {
  aps = await fakeAps(over);
}

type Parts = { readonly workspaces?: FakeWorkspaces; readonly folder?: string };

async function fakeAps(over: Parts = {}) {
  const folder = over.folder ?? scratch("fleet-aps-");
  const workspaces = over.workspaces ?? (await fakeWorkspaces());
  const { context, idle, stop } = await startAps({
    ...place,
    folder,
    workspaces,
    aws: { keyEnabled: async (arn) => arn.endsWith("/good") },
    now: () => 1_000_000,
    log: () => {},
  });
  endings.push(stop);
  const calls = callsOf((request, by) => apsApi(request, context, by));
  return settling(Object.assign(calls, { workspaces, folder }), async () => {
    await new Promise((done) => setImmediate(done));
    if (!workspaces.held) await idle();
  });
}

/** Creates a workspace and waits until it is ACTIVE; its id. */
export const activeWorkspace = async (body: object = {}): Promise<string> =>
  (await aps.finish("POST", "/workspaces", body)).body.workspaceId;

/** ARN of a resource of the fakes. */
export const arn = (resource: string): string => `arn:aws:aps:us-east-1:000000000000:${resource}`;

/** A document as requests carry it. */
export const base64 = (document: string): string => Buffer.from(document).toString("base64");

export const rules = (expression: string): string =>
  `groups: [{ name: test, rules: [{ record: answer, expr: ${JSON.stringify(expression)} }] }]`;
