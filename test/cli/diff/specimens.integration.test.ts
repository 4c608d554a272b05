import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blastRadius } from "../../../cli/diff/blast-radius.ts";
import type { Report } from "../../../cli/diff/report.ts";
import { hubMetadata } from "../../../cli/render/clusters.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { composition, GitFleet } from "../support/git-fleet.ts";

describe("a new Kubernetes version of the Composition", () => {
  let fleet: GitFleet;
  beforeAll(() => {
    fleet = new GitFleet();
    const newest = '          "1.37": {}\n';
    const named = '          "1.38": {vpc-cni: v1.22.4-eksbuild.3}\n';
    fleet.edit(composition, [newest, newest + named], ['prod: "true"', 'prod: "false"']);
    fleet.commit();
    fleet.edit(composition, ['prod: "false"', 'prod: "true"']);
    fleet.commit();
  });
  afterAll(() => fleet.remove());

  const between = (base: string, head: string) =>
    blastRadius({ base, head, cwd: fleet.folder, build: buildText, recorded: new Map(), stacks: [], charts: {} });

  /** Of those that stand for new spokes. */
  const versions = ({ clusters }: Report) =>
    clusters
      .filter(({ template }) => template)
      .map(({ name, changes: all, problems }) => {
        const lines = all.find(({ kind }) => kind === "Spoke")?.diff ?? [];
        return { name, problems, version: lines.filter((line) => /^[-+]/.test(line)).map((line) => line.trim()) };
      });
  const raised = ['-  kubernetesVersion: "1.36"', '+  kubernetesVersion: "1.38"'];
  const ofSpoke = ({ clusters }: Report, name: string) => clusters.find((cluster) => cluster.name === name)?.changes;

  test("that a channel holds back is what new spokes of the other stage get, as new ones and not by an upgrade", async () => {
    const report = await between("HEAD~2", "HEAD~1");
    expect(versions(report)).toEqual([
      { name: "check-dev", problems: [], version: raised },
      { name: "check-prod", problems: [], version: [] },
    ]);
    expect(ofSpoke(report, "check-prod")).toEqual([]);
    const cluster = ofSpoke(report, "check-dev")?.find(({ kind, on }) => kind === "Cluster" && on === "hub");
    expect(cluster?.diff).toEqual(expect.arrayContaining(['+    version: "1.38"']));
    expect(report.gaps).toEqual([]);
  });

  test("is what new spokes of that stage get with the commit that promotes it", async () => {
    const report = await between("HEAD~1", "HEAD");
    expect(versions(report)).toEqual([
      { name: "check-dev", problems: [], version: [] },
      { name: "check-prod", problems: [], version: raised },
    ]);
    expect(ofSpoke(report, "check-dev")).toEqual([]);
  });
});

test("the sample of a new spoke gets its cluster and its tools from a hub that permits add-ons nothing and has no workspace for metrics", async () => {
  const fleet = new GitFleet();
  const hub = {
    ...hubMetadata("fleet", "prod"),
    hubEgressCidrs: ["203.0.113.10/32"],
    ...{ addonBoundaryArn: "", metricsWorkspaceArn: "", metricsEndpoint: "" },
  };
  const options = { cwd: fleet.folder, build: buildText, recorded: new Map(), stacks: [], charts: {}, hub };
  const { gaps } = await blastRadius({ base: "HEAD", head: "HEAD", ...options });
  fleet.remove();
  expect(gaps).toEqual([]);
});
