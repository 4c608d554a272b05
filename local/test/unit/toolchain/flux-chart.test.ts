import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type ControllerSource, fluxChartFiles } from "../../../toolchain/flux-chart.ts";

const source = (short: string, group: string): ControllerSource => ({
  key: `${short}Controller`,
  name: `${short}-controller`,
  tag: "v1.0.0",
  manager: [{ kind: "Deployment" }, { kind: "Service" }, { kind: "Kustomization" }],
  crds: { [`${short}.yaml`]: `spec: {group: ${group}}` },
});
const sources = [source("source", "s.fluxcd.io"), source("helm", "h.fluxcd.io")];

describe("the chart made of the controllers' own config", () => {
  const files = fluxChartFiles(sources);

  test("has each controller's Deployment and Services under its values key, and no kustomization", () =>
    expect(parse(files["files/controllers.yaml"] ?? "").helmController).toEqual({
      name: "helm-controller",
      tag: "v1.0.0",
      deployment: { kind: "Deployment" },
      services: [{ kind: "Service" }],
    }));

  test("has each CRD as it is, in its controller's folder", () =>
    expect(files["files/crds/source-controller/source.yaml"]).toBe("spec: {group: s.fluxcd.io}"));
});

test("a controller without a Deployment or without CRDs is refused by name", () => {
  expect(() => fluxChartFiles([{ ...source("helm", "h"), manager: [] }])).toThrow(/helm-controller: 0 Deployments/);
  expect(() => fluxChartFiles([{ ...source("helm", "h"), crds: {} }])).toThrow(/helm-controller: no CRDs/);
});
