import { describe, expect, test } from "vitest";
import { notApplied } from "../../lib/flux-applied.ts";

const metadata = (name: string, namespace = "flux-system") => ({ name, namespace });
const artifact = (revision: string) => ({ revision, digest: "sha256:d1", url: "http://source/a.tar.gz" });
const repository = {
  kind: "GitRepository",
  metadata: metadata("system"),
  status: { artifact: artifact("main@sha1:a") },
};
const cut = (revision: string) => ({
  kind: "ExternalArtifact",
  metadata: metadata("part"),
  status: { artifact: artifact(revision) },
});
/** As source-watcher computes it of the repository's digest, revision and URL (HashObservedSources). */
const observed = "sha256:7f9b046842650a9b20ed5eac123954ee9e4877de8c923f86d5e3f3fdf34107ff";
const generator = (observedSourcesDigest: string) => ({
  kind: "ArtifactGenerator",
  metadata: metadata("cutter"),
  spec: { sources: [{ alias: "system", kind: "GitRepository", name: "system" }] },
  status: { observedSourcesDigest },
});
const kustomization = (lastAppliedRevision?: string, namespace = "flux-system") => ({
  kind: "Kustomization",
  metadata: metadata("step", namespace),
  spec: { sourceRef: { kind: "ExternalArtifact", name: "part", namespace: "flux-system" } },
  status: lastAppliedRevision === undefined ? {} : { lastAppliedRevision },
});

describe("what Flux has applied of its artifacts", () => {
  test("is everything when generators have cut, and Kustomizations applied, what is there now", () => {
    const objects = [
      repository,
      cut("latest@sha256:1"),
      generator(observed),
      kustomization("latest@sha256:1", "spokes"),
    ];
    expect(notApplied(objects)).toEqual([]);
  });

  test("is not a generator's that has cut an older revision of its source", () =>
    expect(notApplied([{ ...repository, status: { artifact: artifact("main@sha1:b") } }, generator(observed)])).toEqual(
      ["ArtifactGenerator flux-system/cutter: has not cut the newest revision of its source"],
    ));

  test("is not a Kustomization's that has applied an older revision of its artifact", () =>
    expect(notApplied([cut("latest@sha256:2"), kustomization("latest@sha256:1")])).toEqual([
      "Kustomization flux-system/step: has latest@sha256:1, not yet latest@sha256:2",
    ]));

  test("is said in plain words of a Kustomization that has applied nothing, or has no artifact", () => {
    expect(notApplied([cut("latest@sha256:2"), kustomization()])).toEqual([
      "Kustomization flux-system/step: nothing has been applied yet of latest@sha256:2",
    ]);
    expect(notApplied([kustomization("latest@sha256:1")])).toEqual([
      "Kustomization flux-system/step: its artifact is not there yet",
    ]);
  });
});
