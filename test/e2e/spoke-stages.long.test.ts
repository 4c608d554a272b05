import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stageSource } from "@eks-gitops-fleet/local/git";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { chainArtifact } from "../../lib/layout.ts";
import { withResources } from "../support/checkout.ts";
import { eventually, get, git, kubectl } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { getOnSpoke, sharedSpoke, system, untilReady } from "./support/spokes.ts";

/** A spoke of the stage that takes changes at once, and one of the stage that takes them when they are promoted. */
const dev = "blue";
const prod = "green";
/** Seconds that a change may take from a push until it holds on a spoke, on a machine that is busy. */
const ROLLOUT_SECONDS = 300;

const composition = "platform/composition/composition.yaml";
const info = "spoke-bootstrap/sync/cluster-info.yaml";
const BRANCH = "prod";
const SOURCE = "gitops-system-prod";

let repository: Checkout;

/** Changes the Composition: its channel for prod, and its input. */
const change = (promoted: boolean, input: object) =>
  repository.edit(composition, (manifest) => {
    manifest.metadata.labels[`channel.fleet.internal/${BRANCH}`] = String(promoted);
    Object.assign(manifest.spec.pipeline[0].input, input);
    return manifest;
  });

/** Whether the provider for EKS may write kubeconfigs into Secrets. */
const permitKubeconfigs = (permitted: boolean) =>
  repository.edit("platform/crossplane/packages/kubeconfig-permissions.yaml", (manifest) => {
    const verbs = ["get", "list", "watch", "create", "update", "patch"];
    return { ...manifest, rules: permitted ? [{ apiGroups: [""], resources: ["secrets"], verbs }] : [] };
  });

/** Changes what the chain brings to every spoke. */
const mark = (release: string) =>
  repository.edit(info, (manifest) => ({ ...manifest, data: { ...manifest.data, release } }));

/** Moves the branch that prod follows to what is on the main branch now. */
const promote = () => git(["push", "--quiet", "origin", `HEAD:refs/heads/${BRANCH}`], repository.folder);

/** The mark that a spoke has; undefined when it has none. */
const markOn = async (name: string): Promise<string | undefined> =>
  (await getOnSpoke(name, ["configmap", "cluster-info", "--namespace", "flux-system"])).data.release;

const untilMarked = (name: string, release: string | undefined) =>
  eventually(ROLLOUT_SECONDS, async () => expect(await markOn(name)).toBe(release));

/** The chain's steps of a spoke on the hub. */
const chain = async (name: string): Promise<Editable[]> =>
  (await get(["kustomizations", "--namespace", "spokes", "--selector", `fleet.internal/cluster=${name}`])).items;

const isReady = ({ metadata, status = {} }: Editable) =>
  status.observedGeneration === metadata.generation &&
  (status.conditions ?? []).some((one: Editable) => one.type === "Ready" && one.status === "True");

/** Waits until every step of a chain is Ready and takes its manifests and its way to the spoke from where it must. */
const untilChain = (name: string, source: string, kubeConfig: "configMapRef" | "secretRef") =>
  eventually(ROLLOUT_SECONDS, async () => {
    const steps = await chain(name);
    expect(steps.length).toBeGreaterThan(8);
    for (const step of steps) {
      const { name: step_, labels } = step.metadata;
      expect(isReady(step), `${step_}: ${step.status?.conditions?.[0]?.message}`).toBe(true);
      // The spoke's own secrets come from the branch that the Spoke came from.
      if (labels["fleet.internal/source"] === "stage") expect(step.spec.sourceRef.name, step_).toBe(source);
      if (labels["fleet.internal/target"] === "spoke")
        expect(Object.keys(step.spec.kubeConfig), step_).toEqual([kubeConfig]);
    }
    const selector = ["--selector", `fleet.internal/cluster=${name}`];
    const releases = (await get(["helmreleases", "--namespace", "spokes", ...selector])).items;
    expect(releases.map(({ spec }: Editable) => Object.keys(spec.kubeConfig))).toEqual([
      [kubeConfig],
      [kubeConfig],
      [kubeConfig],
    ]);
    for (const release of releases) expect(isReady(release), release.metadata.name).toBe(true);
  });

/** How Flux reaches a spoke, by the Composition that the Spoke follows. */
const revision = async (name: string): Promise<string> =>
  (await get(["spoke", name, "--namespace", "spokes"])).spec.crossplane.compositionRevisionRef.name;

/** Waits until the hub has fetched what was pushed, so that what has not changed afterwards will not. */
async function untilFetched(commit: string): Promise<void> {
  await eventually(60, async () => {
    const { status } = await get(["gitrepository", "gitops-system", "--namespace", "flux-system"]);
    expect(status.artifact.revision).toContain(commit);
  });
}

beforeAll(async () => {
  await Promise.all([sharedSpoke(dev, "dev"), sharedSpoke(prod, "prod")]);
  repository = await system();
});

// Everything as it was: first back to one source for all, then the source of prod goes.
afterAll(async () => {
  await change(true, { kubeConfig: "configMap", stages: {} });
  await permitKubeconfigs(false);
  await mark("");
  await repository.edit(info, ({ data: { release: _, ...data }, ...manifest }) => ({ ...manifest, data }));
  await repository.push("Follow one branch again");
  await Promise.all([dev, prod].map((name) => untilChain(name, chainArtifact, "configMapRef")));
  await Promise.all([dev, prod].map((name) => untilMarked(name, undefined)));
  await Promise.all([dev, prod].map((name) => untilReady(name)));
  await repository.edit("clusters/fleet/kustomization.yaml", ({ resources, ...manifest }) => ({
    ...manifest,
    resources: resources.filter((file: string) => file !== "stages.yaml"),
  }));
  await repository.remove("clusters/fleet/stages.yaml");
  await repository.push("Remove the stage of prod");
  await git(["push", "--quiet", "origin", `:refs/heads/${BRANCH}`], repository.folder);
});

test("each environment has the tools in the versions that its folder says", async () => {
  const installed = async (name: string): Promise<string[]> => {
    const { items } = await getOnSpoke(name, ["providers.pkg.crossplane.io"]);
    const versions: string[] = items.map(({ spec }: Editable) => spec.package.split(":").at(-1));
    return [...new Set(versions)];
  };
  const wanted = (environment: string): string =>
    parse(readFileSync(join(repository.folder, "tools", environment, "versions.yaml"), "utf8")).spec.postBuild
      .substitute.provider_aws_version;
  expect([await installed(dev), await installed(prod)]).toEqual([[wanted("dev")], [wanted("prod")]]);
});

describe("with a branch for prod, as the Composition's stages say", () => {
  beforeAll(async () => {
    writeFileSync(
      join(repository.folder, "clusters", "fleet", "stages.yaml"),
      stringify(stageSource(SOURCE, BRANCH, "10s")),
    );
    await repository.edit("clusters/fleet/kustomization.yaml", withResources("stages.yaml"));
    await change(true, { stages: { [BRANCH]: { gitRepository: SOURCE, gitopsSystemRevision: BRANCH } } });
    await repository.push("Give prod a branch of its own");
    await promote();
    await Promise.all([untilChain(dev, chainArtifact, "configMapRef"), untilChain(prod, SOURCE, "configMapRef")]);
  });

  test("a change in spoke-bootstrap reaches a dev spoke at once, a prod spoke when it is merged to that branch", async () => {
    await mark("first");
    await untilFetched(await repository.push("Mark the spokes"));
    await untilMarked(dev, "first");
    expect(await markOn(prod)).toBeUndefined();
    await promote();
    await untilMarked(prod, "first");
  });

  test("the spoke's own Flux follows the branch of its stage too", async () => {
    const branch = async (name: string) =>
      (await getOnSpoke(name, ["gitrepository", "gitops-system", "--namespace", "flux-system"])).spec.ref.branch;
    expect([await branch(dev), await branch(prod)]).toEqual(["main", BRANCH]);
  });

  test("a change of the Composition reaches a dev spoke at once, a prod spoke when its channel says so", async () => {
    const before = await revision(prod);
    await permitKubeconfigs(true);
    await change(false, { kubeConfig: "secret" });
    await untilFetched(await repository.push("Reach dev's spokes by a connection Secret"));
    await untilChain(dev, chainArtifact, "secretRef");
    await untilReady(dev);
    await untilChain(prod, SOURCE, "configMapRef");
    expect([await revision(prod), (await revision(dev)) === before]).toEqual([before, false]);
    await change(true, {});
    await repository.push("And prod's");
    await untilChain(prod, SOURCE, "secretRef");
    await untilReady(prod);
    expect(await revision(prod)).toBe(await revision(dev));
  });

  test("by a connection Secret the chain works as well, and goes on working when its token is renewed", async () => {
    const secret = `${dev}-kubeconfig`;
    const token = async () => {
      const { data } = await get(["secret", secret, "--namespace", "spokes"]);
      return JSON.parse(atob(data.kubeconfig)).users[0].user.token;
    };
    const before = await token();
    // Every look of the provider renews it.
    const now = `test.fleet.internal/now=${Date.now()}`;
    await kubectl([
      "annotate",
      "clusterauth.eks.aws.m.upbound.io",
      `${dev}-cluster-auth`,
      "--namespace",
      "spokes",
      now,
    ]);
    await eventually(60, async () => expect((await token()) === before).toBe(false));
    await mark("second");
    await repository.push("Mark the spokes again");
    await untilMarked(dev, "second");
    expect(await markOn(prod)).toBe("first");
  });
});
