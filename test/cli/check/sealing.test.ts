import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { keyFiles } from "../../../cli/sealing/keys-folder.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { type Change, fleetFolder, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";
import { sealedFor } from "../support/spoke-seeds.ts";

afterAll(removeCopies);

const folder = "gitops-system/spokes/fleet/plum";
const withOwnKeys: readonly Change[] = [
  ...spoke("plum", "10.104.0.0/18"),
  replaced(`${folder}/spoke.yaml`, "  environment: dev\n", "  environment: dev\n  sealing: cluster\n"),
  ...Object.entries(keyFiles(["1"])).map(([file, to]) => ({ file: `${folder}/sealing-keys/${file}`, to })),
];
const report = (...changes: readonly Change[]) =>
  withChanges(changes, (repos) => {
    const { warnings, findings } = check({ repos, build: buildText, today: new Date("2026-01-01") });
    const places = warnings.map(({ place: { file, line }, problem, clusters }) => ({
      ...{ problem, clusters },
      place: `${file.slice(join(repos, "/").length)}:${line}`,
    }));
    return { findings: found({ findings }, repos), warnings: places };
  });

describe("fleet check, of what is sealed for a spoke with sealing keys of its own", () => {
  test("has nothing against secrets for its own scope, and none against those that do not say their scope", () => {
    expect(report(...withOwnKeys, sealedFor("plum", "gitops-system", "cluster-plum"))).toEqual({
      findings: [],
      warnings: [],
    });
  });

  test("warns of secrets for its environment, which are sealed again in a later push than the one with the key", () => {
    expect(report(...withOwnKeys, sealedFor("plum", "gitops-workloads", "dev"))).toEqual({
      findings: [],
      warnings: [
        {
          place: `${folder}/secrets/gitops-workloads.yaml:7`,
          problem:
            "SealedSecret flux-system/gitops-workloads is sealed for dev; the cluster opens only what is sealed for cluster-plum",
          clusters: ["plum"],
        },
      ],
    });
  });

  test.each(["prod", "cluster-blue", "cluster-hub"])("refuses secrets for %s", (scope) => {
    const { findings, warnings } = report(...withOwnKeys, sealedFor("plum", "gitops-system", scope));
    expect(warnings).toEqual([]);
    expect(findings.map(({ rule, problem }) => ({ rule, problem }))).toEqual([
      {
        rule: "sealing",
        problem: `SealedSecret flux-system/gitops-system is sealed for ${scope}; the cluster opens only what is sealed for cluster-plum`,
      },
    ]);
  });
});

test("fleet check refuses a secret of the hub that is sealed for an environment, and takes one that is sealed for the hub", () => {
  const hub = "gitops-system/clusters/fleet";
  const sealed = (scope: string): readonly Change[] => [
    ...spoke("plum", "10.104.0.0/18"),
    {
      ...fleetFolder("fleet"),
      to: fleetFolder("fleet").to.replace("resources:\n", "resources:\n  - ../../platform/hub/sealed-secrets\n"),
    },
    { file: `${hub}/secrets/kustomization.yaml`, to: "resources:\n  - token.yaml\n" },
    {
      file: `${hub}/secrets/token.yaml`,
      to: `apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata:
  name: token
  namespace: flux-system
  annotations:
    fleet.internal/sealed-for: ${scope}
spec:
  encryptedData:
    token: AgA=
`,
    },
  ];
  expect(report(...sealed("cluster-hub")).findings).toEqual([]);
  expect(report(...sealed("dev")).findings).toMatchObject([{ rule: "sealing", clusters: ["hub"] }]);
});
