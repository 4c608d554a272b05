import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { labelKeys } from "../../lib/labels.ts";
import { eventually, get, kubectl, pulumi, tryKubectl, tryPulumi } from "./support/fleet.ts";
import { BOOTSTRAP_SECONDS, condition, spoke, system, untilGone, untilNoted, writeSpoke } from "./support/spokes.ts";

/** Spokes that the function refuses, and so have nothing but a name: of a Kubernetes version that the Composition does not offer. */
const NAMES = ["guard-one", "guard-two"];
const inSpokes = ["--namespace", "spokes"];

/** Deletes nothing: a dry run on the server passes admission like a real request. */
const deleteOnHub = (kind: string, name: string) =>
  tryKubectl(["delete", kind, name, "--namespace", "flux-system", "--dry-run=server"]);

/** Everything in the stack's state. */
const deployed = async () =>
  (JSON.parse(await pulumi(["stack", "export"])).deployment.resources as { urn: string }[])
    .map(({ urn }) => urn)
    .sort();

const manifest = (name: string) => ({
  apiVersion: "fleet.internal/v1alpha1",
  kind: "Spoke",
  metadata: { name, namespace: "spokes", labels: { [labelKeys.fleet]: "fleet" } },
  spec: { region: "us-east-1", kubernetesVersion: "1.30", environment: "dev" },
});

describe("the hub, while spokes exist,", () => {
  beforeAll(async () => {
    const repository = await system();
    for (const name of NAMES) await writeSpoke(repository, name, manifest(name));
    await repository.push("Add spokes of a version that is not offered");
    await eventually(BOOTSTRAP_SECONDS, async () => {
      for (const name of NAMES)
        expect(await condition(name, "SpecAccepted")).toMatchObject({ status: "False", reason: "UnsupportedVersion" });
    });
  });
  afterAll(async () => {
    const repository = await system();
    await repository.remove(...NAMES.map((name) => `spokes/fleet/${name}`));
    await repository.push("Remove the spokes of a version that is not offered");
    for (const name of NAMES) await untilGone(name);
    await untilNoted(...NAMES);
  });

  test("makes nothing of a Spoke that it can't accept, and says why", async () => {
    for (const name of NAMES) {
      const { status } = await spoke(name);
      expect(status).toMatchObject({
        phase: "Refused",
        message: expect.stringContaining("spec.kubernetesVersion 1.30 is not supported"),
      });
      const made = await kubectl([
        "get",
        "managed,kustomizations,configmaps",
        ...inSpokes,
        "--output",
        "name",
        "--selector",
        `${labelKeys.cluster}=${name}`,
      ]);
      expect(made).toBe("");
    }
  });

  test("keeps its root Kustomization, and names a spoke and what to do; others can go", async () => {
    const { code, stderr } = await deleteOnHub("kustomization", "hub");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /the hub still runs spoke \S+; remove spokes through Git first and wait until they are gone/,
      ),
    });
    expect((await deleteOnHub("kustomization", "cluster-info")).code, "other Kustomizations are not guarded").toBe(0);
  });

  test("is not destroyed: pulumi destroy names every spoke and what to do, and takes nothing away", async () => {
    const before = await deployed();
    const { code, stdout, stderr } = await tryPulumi(["destroy", "--yes", "--skip-preview"]);
    const said =
      /the hub still runs these spokes: (.*); remove spokes through Git first and wait until they are gone/.exec(
        stdout + stderr,
      );
    expect(code).not.toBe(0);
    expect(said?.[1]?.split(", ")).toEqual(expect.arrayContaining(NAMES));
    expect(await deployed()).toEqual(before);
    expect(
      (await get(["kustomization", "hub", "--namespace", "flux-system"])).metadata.deletionTimestamp,
    ).toBeUndefined();
  });
});
