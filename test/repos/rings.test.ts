import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ringComposition, ringFolders, ringSource, ringSync } from "../../lib/rings.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { generated, type Manifest } from "./support/kustomize.ts";
import { instantiated, kustomizations, render, system, withAddons } from "./support/spoke.ts";

/** gitops-system with nothing but what a ring counts as a change. */
const ofRings = temporaryFolder("fleet-rings");
for (const folder of ringFolders) cpSync(join(system, folder), join(ofRings, folder), { recursive: true });

test("all that a spoke takes from its ring's branch is in the folders whose change moves a ring", () => {
  for (const addons of [[], ["metrics_server"], ["kyverno"], ["metrics_server", "kyverno"]]) {
    const { applied } = render(withAddons("minimal", addons));
    const paths = applied
      .flatMap(({ objects }) => kustomizations(objects))
      .filter(({ spec }) => ["gitops-system", "bootstrap-chain"].includes(spec.sourceRef.name))
      .map(({ spec }) => spec.path);
    expect(paths).toContain("./spoke-bootstrap/tools");
    // A folder that reads another one outside can't be built.
    for (const path of ["./spoke-bootstrap", ...paths])
      expect(() => generated(join(ofRings, path)), path).not.toThrow();
  }
  expect(generated(join(ofRings, "platform", "composition"))).toHaveLength(1);
});

test("the template of a ring has the names by which spokes and commands know it", () => {
  const ring = "early";
  const objects = instantiated(join(system, "templates", "ring"), { ring }, {}, (folder) => generated(folder));
  const by = (kind: string): Manifest => objects.find((object) => object.kind === kind) as Manifest;
  expect(objects).toHaveLength(2);
  expect(by("GitRepository")).toMatchObject({
    metadata: { name: ringSource(ring), labels: { "fleet.internal/ring": ring } },
    spec: { ref: { branch: `ring/${ring}` } },
  });
  const { metadata, spec } = by("Kustomization");
  expect(metadata).toMatchObject({ name: ringSync(ring), labels: { "fleet.internal/ring": ring } });
  expect(spec).toMatchObject({ sourceRef: { name: ringSource(ring) }, path: "./platform/composition" });
  const [composition] = generated(join(system, spec.path));
  expect(`${composition?.metadata.name}${spec.nameSuffix}`).toBe(ringComposition(ring));
});
