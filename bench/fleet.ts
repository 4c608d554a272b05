import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Kubectl, type LocalFleet, raiseQuotas } from "@eks-gitops-fleet/local/cli";
import { bareRepository, commitTo, git, stageSource, writeTree } from "@eks-gitops-fleet/local/git";
import { parse, stringify } from "yaml";
import { hubFolder, spokeFolder } from "../lib/layout.ts";
import { fillTemplate } from "../lib/template.ts";
import type { Bench } from "./bench.ts";
import { holding, hub, kubectlOn, listed, until } from "./cluster.ts";
import { seconds } from "./report.ts";
import { median } from "./statistics.ts";
import { type Usage, usageOf } from "./usage.ts";

/** EKS clusters that the gateway records and does not run (local/README.md). */
export const RECORDED = "^fleet-spoke-many-";
const nameOf = (number: number) => `many-${number}`;

/** The environment of these spokes, with a source of its own for the chain: nothing on a recorded cluster would answer it. */
const environment = "prod";
const SOURCE = "gitops-system-no-chain";
const BRANCH = "no-chain";
/** The fleet of the local stack. */
const FLEET = "fleet";

const IDLE_SECONDS = 60;
const LIMIT = 2_400_000;
const POLL = 2000;

/** A branch whose spoke-bootstrap is one ConfigMap on the hub. */
async function pushEmptyChain(bare: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fleet-bench-chain-"));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Flux
  const metadata = { name: "${cluster_name}-no-chain", namespace: "spokes" };
  const files = {
    "kustomization.yaml": { resources: ["no-chain.yaml"] },
    "no-chain.yaml": { apiVersion: "v1", kind: "ConfigMap", metadata },
  };
  try {
    await mkdir(join(folder, "spoke-bootstrap"));
    for (const [name, content] of Object.entries(files))
      await writeFile(join(folder, "spoke-bootstrap", name), stringify(content));
    const commit = git(bare, ["commit-tree", writeTree(bare, folder), "-m", "Leave the chain out"]);
    git(bare, ["update-ref", `refs/heads/${BRANCH}`, commit]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Rewrites a YAML file of a checkout. */
async function edit(file: string, change: (content: Record<string, unknown>) => void): Promise<void> {
  const content = parse(await readFile(file, "utf8"));
  change(content);
  await writeFile(file, stringify(content));
}

/** Gives the environment the empty chain, by Git as the platform team does, and waits until it is in force. */
async function leaveOutTheChain(fleet: LocalFleet, kubectl: Kubectl): Promise<void> {
  const bare = bareRepository(fleet.instance(), "gitops-system");
  await pushEmptyChain(bare);
  await commitTo(bare, "Leave the chain out for the benchmark", async (checkout) => {
    await writeFile(join(checkout, hubFolder(FLEET), "no-chain.yaml"), stringify(stageSource(SOURCE, BRANCH, "10m")));
    await edit(join(checkout, hubFolder(FLEET), "kustomization.yaml"), ({ resources }) => {
      (resources as string[]).push("no-chain.yaml");
    });
    await edit(join(checkout, "platform/composition/composition.yaml"), (composition) => {
      const { pipeline } = composition["spec"] as { pipeline: { input: Record<string, unknown> }[] };
      for (const { input } of pipeline) input["stages"] = { [environment]: { gitRepository: SOURCE } };
    });
  });
  const revisions = ["get", "compositionrevisions,gitrepository.source.toolkit.fluxcd.io", "--all-namespaces"];
  await until(
    async () => {
      const all = await kubectl([...revisions, "--output", "json"]);
      return all.includes(`"gitRepository": "${SOURCE}"`) && all.includes(`"name": "${SOURCE}"`);
    },
    { pause: POLL, limit: 300_000, state: () => "the Composition with the empty chain has not arrived" },
  );
}

/** Adds spokes by one commit: from the template, without secrets, which only the chain would read. */
async function add(fleet: LocalFleet, numbers: readonly number[]): Promise<void> {
  await commitTo(
    bareRepository(fleet.instance(), "gitops-system"),
    `Add ${numbers.length} spokes`,
    async (checkout) => {
      const template = join(checkout, "templates", "spoke");
      for (const number of numbers) {
        const values = {
          name: nameOf(number),
          fleet: FLEET,
          environment,
          region: "us-east-1",
          kubernetesVersion: "1.34",
          tenant: "bench",
        };
        const folder = join(checkout, spokeFolder(FLEET, nameOf(number)));
        await mkdir(join(folder, "flux"), { recursive: true });
        for (const file of ["kustomization.yaml", "spoke.yaml", "flux/sync.yaml"])
          await writeFile(join(folder, file), fillTemplate(await readFile(join(template, file), "utf8"), values));
      }
    },
  );
}

interface Measured {
  readonly size: number;
  readonly added: number;
  /** Milliseconds from the push until each of the added spokes was Ready. */
  readonly ready: readonly number[];
  readonly before: Usage;
  readonly after: Usage;
  /** After {@link IDLE_SECONDS} in which nothing was asked for. */
  readonly idle: Usage;
}

/** Lets the fleet grow to a size, and then rest. */
async function grow(
  fleet: LocalFleet,
  kubectl: Kubectl,
  from: number,
  size: number,
  report: (line: string) => void,
): Promise<Measured> {
  const instance = fleet.instance();
  const numbers = Array.from({ length: size - from }, (_, index) => from + index + 1);
  // A hub, the default VPC and the spokes: more than a new account may have.
  await raiseQuotas(instance, ["vpcs", "gatewayEndpoints", "addresses", "natGateways"], size + 5);
  const before = await usageOf(instance, kubectl);
  const pushed = Date.now();
  await add(fleet, numbers);
  let spokes = await listed(kubectl, "spokes");
  const left = () => numbers.length - numbers.filter((number) => isReady(number)).length;
  const find = (number: number) => spokes.find(({ metadata }) => metadata.name === nameOf(number));
  const isReady = (number: number) => {
    const spoke = find(number);
    return spoke !== undefined && holding(spoke, "Ready") !== undefined;
  };
  await until(
    async () => {
      spokes = await listed(kubectl, "spokes");
      return left() === 0;
    },
    {
      pause: POLL,
      limit: LIMIT,
      state: () =>
        spokes.map(({ metadata, status }) => `${metadata.name}: ${status?.phase}: ${status?.message}`).join("\n"),
    },
  );
  const after = await usageOf(instance, kubectl);
  const ready = numbers.map((number) => {
    const at = holding(find(number) ?? { metadata: { name: "" } }, "Ready")?.lastTransitionTime ?? "";
    return Date.parse(at) - pushed;
  });
  report(`${size} spokes Ready; looking at them for ${IDLE_SECONDS} s`);
  await sleep(IDLE_SECONDS * 1000);
  return { size, added: numbers.length, ready, before, after, idle: await usageOf(instance, kubectl) };
}

/** Most that a spoke may cost in the largest fleet, as a multiple of its cost in the one before. */
const GROWTH_LIMIT = 1.5;
const costNames = { cpu: "processor time", requests: "API requests" } as const;

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** What one more spoke costs, in a fleet of this size. */
function costs({ size, added, ready, before, after, idle }: Measured) {
  return {
    size,
    ready: [Math.min(...ready), median(ready), Math.max(...ready)],
    cpu: (after.cpu - before.cpu) / added,
    requests: (after.requests - before.requests) / added,
    memory: after.memory,
    memoryEach: (after.memory - before.memory) / added,
    idleCpu: (idle.cpu - after.cpu) / IDLE_SECONDS / size,
    idleRequests: (idle.requests - after.requests) / IDLE_SECONDS / size,
  };
}

/** What a fleet costs the hub that grows through `sizes`, and whether a spoke costs more the more there are. */
const fleetOf = (sizes: readonly number[]): Bench => ({
  title:
    "The hub's cost by the number of spokes. The EKS clusters are recorded only, and the bootstrap chain is left out:\n" +
    "Spoke to Ready is network, control plane, nodes, add-ons, identities and handover. Processor time of the hub alone",
  run: async ({ fleet, report }) => {
    const kubectl = kubectlOn(fleet, hub);
    await leaveOutTheChain(fleet, kubectl);
    const results: ReturnType<typeof costs>[] = [];
    let from = 0;
    for (const size of sizes) {
      results.push(costs(await grow(fleet, kubectl, from, size, report)));
      from = size;
    }
    const row = (name: string, cell: (result: (typeof results)[number]) => string) => [name, ...results.map(cell)];
    const [few, many] = results.slice(-2);
    if (few === undefined || many === undefined) throw new Error("two sizes of the fleet are the least to compare");
    const compared = `one more spoke among ${many.size} against among ${few.size}`;
    const growth = (["cpu", "requests"] as const).map((cost) => ({ cost, ratio: many[cost] / few[cost] }));
    return {
      rows: [
        row("spokes", ({ size }) => String(size)),
        row("time to Ready, first", ({ ready }) => seconds(ready[0] ?? Number.NaN)),
        row("time to Ready, median", ({ ready }) => seconds(ready[1] ?? Number.NaN)),
        row("time to Ready, last", ({ ready }) => seconds(ready[2] ?? Number.NaN)),
        row("processor time for one more spoke", ({ cpu }) => `${cpu.toFixed(1)} s`),
        row("API requests for one more spoke", ({ requests }) => requests.toFixed(0)),
        row("memory of the hub", ({ memory }) => mebibytes(memory)),
        row("memory for one more spoke", ({ memoryEach }) => mebibytes(memoryEach)),
        row("processor per spoke at rest", ({ idleCpu }) => `${(1000 * idleCpu).toFixed(1)} m`),
        row("API requests per spoke and second at rest", ({ idleRequests }) => idleRequests.toFixed(2)),
        ...growth.map(({ cost, ratio }) => [`${compared}: ${costNames[cost]}`, ratio.toFixed(2)]),
      ],
      exceeded: growth
        .filter(({ ratio }) => ratio > GROWTH_LIMIT)
        .map(
          ({ cost, ratio }) => `${compared}: ${costNames[cost]} is ${ratio.toFixed(2)} times, limit ${GROWTH_LIMIT}`,
        ),
    };
  },
});

export const fleet = fleetOf([1, 10, 50]);
