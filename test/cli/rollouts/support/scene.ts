import { afterEach, beforeEach, type MockInstance, vi } from "vitest";
import { run } from "../../../../cli/rollouts/command.ts";
import { FakeHub } from "./hub.ts";
import { Repository } from "./repository.ts";

/** A repository with two rings, their hub, and the command: what each test of a file that calls {@link useScene} finds. */

export const policy = `rings:
  - { name: canary, soak: 1h }
  - { name: rest, soak: 24h }
`;

export let repository: Repository;
export let hub: FakeHub;
/** The first commit. */
export let first: string;
let printed: MockInstance<typeof console.log>;
/** What the command says of what failed. */
export let failed: MockInstance<typeof console.error>;

export function useScene(): void {
  beforeEach(async () => {
    repository = new Repository({ "clusters/fleet/rings.yaml": policy });
    first = repository.git("rev-parse", "HEAD");
    hub = new FakeHub();
    await hub.start();
    vi.stubEnv("KUBECONFIG", hub.kubeconfig);
    printed = vi.spyOn(console, "log").mockReturnValue();
    failed = vi.spyOn(console, "error").mockReturnValue();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await hub.stop();
    hub.remove();
    repository.remove();
  });
}

export const rollouts = (...argv: string[]) => run(["--repository", repository.clone.folder, ...argv]);

/** What the command prints. */
export async function output(...argv: string[]): Promise<string> {
  printed.mockClear();
  await rollouts(...argv);
  return printed.mock.calls.join("\n");
}
export const json = async (...argv: string[]) => JSON.parse(await output("-o", "json", ...argv));

export const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** What Flux and Crossplane make of a ring's commit: its spokes have had it for some minutes. */
export function arrive(ring: string, commit: string, spokes: readonly string[], minutes = 0): void {
  const revision = `ring/${ring}@sha1:${commit}`;
  const labels = { "fleet.internal/ring": ring };
  const ready = { type: "Ready", status: "True" };
  const name = `gitops-system-ring-${ring}`;
  hub.put({
    ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository" },
    metadata: { name, namespace: "flux-system", labels, uid: `uid-of-${name}` },
    status: { artifact: { revision, lastUpdateTime: ago(minutes) }, conditions: [ready] },
  });
  hub.put({
    ...{ apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" },
    metadata: { name: `ring-${ring}`, namespace: "flux-system", labels, generation: 3 },
    status: {
      observedGeneration: 3,
      lastAttemptedRevision: revision,
      lastAppliedRevision: revision,
      conditions: [ready],
    },
  });
  const composition = `spoke-${ring}-${commit.slice(0, 7)}`;
  const revisions = hub.objects.filter(({ kind }) => kind === "CompositionRevision").length;
  hub.put({
    ...{ apiVersion: "apiextensions.crossplane.io/v1", kind: "CompositionRevision" },
    metadata: { name: composition, labels: { "crossplane.io/composition-name": `spoke-${ring}` } },
    spec: { revision: revisions + 1 },
  });
  const healthySince = ago(minutes);
  for (const spoke of spokes)
    hub.put({
      ...{ apiVersion: "fleet.internal/v1alpha1", kind: "Spoke" },
      metadata: { name: spoke, namespace: "spokes" },
      spec: { ring },
      status: { phase: "Ready", conditions: [ready], rollout: { ring, revision, composition, healthySince } },
    });
}

export const fail = (name: string, message = "tools fail") =>
  hub.change("Spoke", name, {
    status: { phase: "Failing", message, conditions: [{ type: "Ready", status: "False" }] },
  });

/** The fleet as it is when nothing has changed for long. */
export async function atRest(): Promise<void> {
  await rollouts("--promote");
  arrive("canary", first, ["blue", "teal", "lime"], 10_000);
  await rollouts("--promote");
  arrive("rest", first, ["prod"], 10_000);
  await rollouts("--promote");
  hub.events.splice(0);
}

export const change = () => repository.commit("Raise a tool", { "tools/dev/versions.yaml": "2" });
