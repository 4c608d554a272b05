import { describe, expect, test } from "vitest";
import type { Manifest } from "./support/kustomize.ts";
import { haveSchemas, violations } from "./support/schemas.ts";
import { render, withAddons } from "./support/spoke.ts";

const own = /^(v1$|(apps|policy)\/|[a-z.]+\.k8s\.io\/)/;

describe.skipIf(!haveSchemas)("everything that a spoke gets (skipped without the controllers' definitions)", () => {
  const spoke = withAddons("production", ["metrics_server"]);
  const objects = render(spoke).applied.flatMap(({ objects }) => objects);

  test("is what the controllers' definitions accept, without a field that they do not know", () => {
    const found = objects.flatMap((object) =>
      (violations(object) ?? []).map((violation) => `${object.kind} ${object.metadata.name}: ${violation}`),
    );
    expect(found).toEqual([]);
    // Compiling External Secrets' definitions alone takes seconds on a busy machine.
  }, 60_000);

  test("is of a kind whose definition was looked at, Kubernetes' own aside", () => {
    const unknown = objects.filter((object) => !own.test(object.apiVersion) && violations(object) === undefined);
    expect(unknown.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([]);
  });

  test("a field that a definition does not know is found", () => {
    const [step] = objects as [Manifest];
    expect(violations({ ...step, spec: { ...step.spec, purge: true } })).toEqual([
      expect.stringContaining('"additionalProperty":"purge"'),
    ]);
  });
});
