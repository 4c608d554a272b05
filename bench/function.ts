// `npm run bench:function`: what a call of the composition function costs by the number of spokes. The handler is called over the wire
// format as Crossplane calls it, without a cluster. Ratios of one run; ends with exit code 1 above the limit.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type FunctionHandler, RunFunctionRequest, RunFunctionResponse } from "@crossplane-org/function-sdk-typescript";
import { main } from "@eks-gitops-fleet/local/cli";
import { parse } from "yaml";
import { answer } from "../cli/diff/function.ts";
import { life } from "../cli/diff/life.ts";
import type { Spoke } from "../functions/spoke/api.ts";
import { handler } from "../functions/spoke/handler.ts";
import { candidates } from "../functions/spoke/pool.ts";
import { bridgeData, exampleMetadata } from "../lib/bridge.ts";
import { type Cidr, formatCidr, networkOf, part } from "../lib/cidr.ts";
import { type Schema, withDefaults } from "../lib/openapi.ts";
import { hubGroups } from "../lib/spoke.ts";
import { table } from "./report.ts";
import { median } from "./statistics.ts";

const SIZES = [1, 100, 500, 1000] as const;
const ROUNDS = 60;
/** Most that a call may cost in the largest fleet, as a multiple of its cost in the smallest. */
const LIMIT = 1.5;

const root = join(import.meta.dirname, "..");
const yaml = (path: string) => parse(readFileSync(join(root, path), "utf8"));
const schema: Schema = yaml("repos/gitops-system/platform/api/definition.yaml").spec.versions[0].schema.openAPIV3Schema;
const input = yaml("repos/gitops-system/platform/composition/composition.yaml").spec.pipeline[0].input;
const minimal = yaml("functions/spoke/examples/minimal.yaml");

/** The pool has 1,024 blocks; every second spoke names a network outside it. */
const POOL = "10.0.0.0/8";
const OUTSIDE = "100.64.0.0/10";
const controller = (name: string) => ({
  roleArn: `arn:aws:iam::${exampleMetadata.aws.accountId}:role/${name}`,
  namespace: "flux-system",
  serviceAccount: name,
});
const hub = bridgeData({
  ...exampleMetadata,
  spokeCidrPool: POOL,
  hubEgressCidrs: ["198.51.100.1/32"],
  identities: Object.fromEntries(Object.keys(hubGroups).map((name) => [name, controller(name)])),
});

/** A Spoke as the API server stores it. */
const spoke = (name: string, cidr?: string): Spoke =>
  withDefaults(schema, {
    ...minimal,
    metadata: { ...minimal.metadata, name },
    spec: { ...minimal.spec, region: exampleMetadata.aws.region, ...(cidr === undefined ? {} : { network: { cidr } }) },
  }) as Spoke;

/** Spokes that have their networks: by turns one of their own, and the first block of the pool that was free. */
function others(count: number): Spoke[] {
  const [pool, outside] = [POOL, OUTSIDE].map((text) => networkOf(text) as Cidr) as [Cidr, Cidr];
  const taken = new Set<string>();
  return Array.from({ length: count }, (_, number) => {
    const name = `spoke-${number}`;
    const named = number % 2 === 0 ? formatCidr(part(outside, 10, number)) : undefined;
    const cidr =
      named ??
      candidates(pool, name)
        .map(formatCidr)
        .find((block) => !taken.has(block)) ??
      "";
    taken.add(cidr);
    return { ...spoke(name, named), status: { network: { cidr } } };
  });
}

interface Call {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** The handler, and what each of its calls cost: decoding, the answer, and encoding it. */
function measured(): { handler: FunctionHandler; calls: Call[] } {
  const calls: Call[] = [];
  return {
    calls,
    handler: {
      RunFunction: async (request, logger) => {
        const bytes = RunFunctionRequest.encode(request).finish();
        const started = performance.now();
        const response = await handler.RunFunction(RunFunctionRequest.decode(bytes), logger);
        RunFunctionResponse.encode(response).finish();
        calls.push({ bytes: bytes.length, milliseconds: performance.now() - started });
        return response;
      },
    },
  };
}

/** One more spoke: the calls until its network is chosen, and those for the spoke when it runs. */
async function oneMore(size: number) {
  const around = { input, hub, others: others(size - 1) };
  const choosing = measured();
  for (let round = 0; round < ROUNDS; round += 1)
    await answer(choosing.handler, { ...around, spoke: spoke(`new-${round}`), observed: new Map() });
  const ran = await life({ ...around, handler, spoke: spoke("new") });
  if (!ran.observed.has("vpc")) throw new Error(`the spoke was not made: ${ran.problems.join("; ")}`);
  const running = measured();
  for (let round = 0; round < ROUNDS; round += 1)
    await answer(running.handler, { ...around, spoke: ran.spoke, observed: ran.observed });
  return { choosing: choosing.calls, running: running.calls, memory: process.memoryUsage.rss() };
}

const time = (calls: readonly Call[]): number => median(calls.map(({ milliseconds }) => milliseconds));
const largest = (calls: readonly Call[]): number => Math.max(...calls.map(({ bytes }) => bytes));

await main(async () => {
  await oneMore(2);
  const results: Awaited<ReturnType<typeof oneMore>>[] = [];
  for (const size of SIZES) results.push(await oneMore(size));
  const row = (name: string, cell: (result: (typeof results)[number]) => string) => [name, ...results.map(cell)];
  const milliseconds = (calls: readonly Call[]) => `${time(calls).toFixed(2)} ms`;
  const kibibytes = (calls: readonly Call[]) => `${(largest(calls) / 1024).toFixed(0)} KiB`;
  const rows = [
    ["spokes", ...SIZES.map(String)],
    row("a spoke that gets its network: median time of a call", ({ choosing }) => milliseconds(choosing)),
    row("a spoke that gets its network: calls", ({ choosing }) => (choosing.length / ROUNDS).toFixed(1)),
    row("a spoke that gets its network: largest request", ({ choosing }) => kibibytes(choosing)),
    row("a spoke that runs: median time of a call", ({ running }) => milliseconds(running)),
    row("a spoke that runs: largest request", ({ running }) => kibibytes(running)),
    row("memory of the process", ({ memory }) => `${Math.round(memory / 2 ** 20)} MiB`),
  ];
  console.log(`\nThe composition function by the number of spokes, medians of ${ROUNDS} spokes and calls:`);
  for (const line of table(rows)) console.log(line);
  const [few, many] = [results[0], results.at(-1)];
  if (few === undefined || many === undefined) throw new Error("there are no results");
  const ratio = time(many.running) / time(few.running);
  console.log(
    `\na running spoke's call among ${SIZES.at(-1)} against among ${SIZES[0]}: ${ratio.toFixed(2)}, limit ${LIMIT}`,
  );
  return ratio > LIMIT ? 1 : 0;
});
