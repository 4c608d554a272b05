import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deployerArn, machineCidr } from "@eks-gitops-fleet/local/cli";
import { parseClusterId } from "@eks-gitops-fleet/local/instance";
import { expect } from "vitest";
import { parse } from "yaml";
import { managedKinds, pluralOf } from "../../../functions/spoke/kinds.ts";
import { labelKeys } from "../../../lib/labels.ts";
import { spokeSync } from "../../../lib/layout.ts";
import { fillTemplate } from "../../../lib/template.ts";
import { type Cluster, clusterBy } from "../../support/cluster.ts";
import { succeeds } from "../../support/process.ts";
import { spokesOn } from "../../support/spokes.ts";
import { eventually, execute, get, hub, instance, type Options, tryKubectl } from "./fleet.ts";
import { type Checkout, checkout, type Editable } from "./repository.ts";

/** Seconds that a spoke may take from a push to Ready, on a machine that is busy. */
export const BOOTSTRAP_SECONDS = 600;
/** Seconds that all of a spoke may take from the push that raises its Kubernetes version. */
export const UPGRADE_SECONDS = 900;
/** Seconds that a spoke may take from the push that removes it until nothing is left of it. */
export const REMOVAL_SECONDS = 600;

/** The command `fleet` as in a shell that sourced the instance's env file. */
export const fleet = (args: readonly string[], options?: Options) =>
  execute(join(instance.paths.bin, "fleet"), args, options);

/** Enters the webhooks of all clusters at the Git server, as people do at their Git host once a Receiver runs. */
export async function registerWebhooks(): Promise<void> {
  await succeeds(execute(join(instance.paths.bin, "webhooks"), []));
}

/** Adds the folder of a spoke with one node to a checkout of gitops-system, by `fleet new-cluster`; `change` edits the Spoke. */
export async function addSpoke(
  system: Checkout,
  name: string,
  environment: string,
  change: (spoke: Editable) => Editable = (spoke) => spoke,
  more: readonly string[] = [],
): Promise<void> {
  await succeeds(
    fleet([
      "new-cluster",
      name,
      ...["--environment", environment, "--tenant", "payments", "--nodes", "1", "--repository", system.folder],
      ...more,
    ]),
  );
  await system.edit(`spokes/fleet/${name}/spoke.yaml`, change);
}

/** Writes the folder of a spoke with this Spoke, without secrets: for one that gets no cluster. */
export async function writeSpoke(system: Checkout, name: string, manifest: object): Promise<void> {
  const folder = `spokes/fleet/${name}`;
  await system.write(`${folder}/spoke.yaml`, manifest);
  for (const file of ["kustomization.yaml", "flux/sync.yaml"]) {
    const template = parse(readFileSync(join(system.folder, "templates", "spoke", file), "utf8"));
    const filled = fillTemplate(JSON.stringify(template), { name, fleet: "fleet" });
    await system.write(`${folder}/${file}`, JSON.parse(filled));
  }
}

/** What Flux on the hub says of the Kustomization of a spoke. */
export const syncOf = (name: string): Promise<Editable> =>
  get(["kustomization", spokeSync(name), "--namespace", "flux-system"]);

/** Waits until Flux has noted that it applies no spoke of these names any more: the hub's destruction goes by what Flux has noted. */
export const untilNoted = (...names: readonly string[]) =>
  eventually(REMOVAL_SECONDS, async () => {
    const { items } = await get(["kustomizations", "--namespace", "flux-system"]);
    const noted = items.flatMap(({ status }: Editable) => status?.inventory?.entries ?? []);
    const left = noted.filter(({ id }: { id: string }) =>
      names.some((name) => id.includes(`_${name}_fleet.internal_`) || id.includes(`_${spokeSync(name)}_`)),
    );
    expect(left).toEqual([]);
  });

const spokes = spokesOn(hub);
export const { spoke, condition, exists } = spokes;
/** Waits until a Spoke is Ready. */
export const untilReady = (name: string, seconds = BOOTSTRAP_SECONDS) => spokes.untilReady(name, seconds);
/** Waits until everything of a Spoke runs a Kubernetes version. */
export const untilVersion = (name: string, version: string, seconds = UPGRADE_SECONDS) =>
  spokes.untilVersion(name, version, seconds);
/** Waits until the hub has no such Spoke any more. */
export const untilGone = (name: string, seconds = REMOVAL_SECONDS) => spokes.untilGone(name, seconds);

/** Removes the folder of a spoke, and waits until the hub has no such Spoke any more. */
export async function removeSpoke(system: Checkout, name: string): Promise<void> {
  await system.remove(`spokes/fleet/${name}`);
  await system.push(`Remove spoke ${name}`);
  await untilGone(name);
}

/** Options of `fleet new-cluster` for a spoke that the Git server calls: whoever registers its webhooks reads its Receivers from this machine. */
export const calledByGit = ["--git-receiver", "github", "--admin", deployerArn, "--public-access-cidr", machineCidr];

/** Makes sure of a spoke that several files share and none of them destroys: adds it, called by the Git server, unless the hub has it, and waits until it is Ready. */
export async function sharedSpoke(name: string, environment: string): Promise<void> {
  const isNew = !(await exists(name));
  if (isNew) {
    const repository = await system();
    await addSpoke(repository, name, environment, undefined, calledByGit);
    await repository.push(`Add spoke ${name}`);
    await eventually(60, async () =>
      expect(await exists(name), `Flux has not applied spokes/fleet/${name}`).toBe(true),
    );
  }
  await untilReady(name);
  if (isNew) await registerWebhooks();
}

const { ClusterAuth: _, ...inAws } = managedKinds;
/** The kinds of a spoke's objects in AWS; without the one of the kubeconfig variant, which no other installs. */
export const kindsInAws = inAws;

/** Every object of a spoke in AWS as Crossplane knows it. */
export async function managedOf(name: string): Promise<Editable[]> {
  const kinds = Object.entries(kindsInAws).map(([kind, version]) => `${pluralOf(kind)}.${version.split("/")[0]}`);
  return (await get([kinds.join(","), "--namespace", "spokes", "--selector", `${labelKeys.cluster}=${name}`])).items;
}

/** EKS name of a spoke's cluster. */
export const clusterOf = (name: string): string => `fleet-spoke-${name}`;

/** What the instance calls a spoke's cluster: in another account than the hub's with the account behind it. */
function clusterFolder(name: string): string {
  const others = existsSync(instance.paths.clusters) ? readdirSync(instance.paths.clusters) : [];
  return others.find((folder) => parseClusterId(folder).name === clusterOf(name)) ?? clusterOf(name);
}

/** kubectl's arguments for a spoke, as its administrator: the tests look at it, nobody of the fleet uses this. */
export const on = (name: string): string[] => [
  "--kubeconfig",
  join(instance.paths.clusters, clusterFolder(name), "admin.kubeconfig"),
];
/** A spoke as its administrator sees it. */
export const clusterOn = (name: string): Cluster =>
  clusterBy((args, options) => tryKubectl([...on(name), ...args], options));
export const onSpoke = (name: string, args: readonly string[], options?: Options) =>
  clusterOn(name).kubectl(args, options);
export const tryOnSpoke = (name: string, args: readonly string[], options?: Options) =>
  clusterOn(name).tryKubectl(args, options);
export const getOnSpoke = (name: string, args: readonly string[]) => clusterOn(name).get(args);

/** A checkout of the platform team's repository. */
export const system = () => checkout("gitops-system");
/** A checkout of the governance team's repository. */
export const workloads = () => checkout("gitops-workloads");
