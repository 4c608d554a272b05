import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

/** What the check says of the spoke blue with these add-ons. */
const problems = (addons: string) =>
  withChanges(
    [
      ...spoke("blue", "10.64.0.0/18"),
      replaced("gitops-system/spokes/fleet/blue/spoke.yaml", "  network:", `  addons: [${addons}]\n  network:`),
    ],
    (folder) => check({ repos: folder, build: buildText }).findings.map(({ problem }) => problem),
  );

describe("the add-ons of a Spoke", () => {
  test.for([
    ["karpenter_nodes", "Kustomization karpenter-nodes depends on flux-system/karpenter, which does not exist there"],
    ["opencost", "Kustomization opencost depends on flux-system/prometheus, which does not exist there"],
    ["velero", "Kustomization velero-bucket depends on flux-system/s3-buckets, which does not exist there"],
  ] as const)("are told where %s lacks the one that it depends on", ([addon, problem]) => {
    expect(problems(addon)).toContain(problem);
  });

  test.for(["karpenter", "karpenter, karpenter_nodes", "opencost, prometheus", "s3_buckets, velero"])(
    "are good as %s",
    (addons) => expect(problems(addons)).toEqual([]),
  );
});
