import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { contentFolder } from "../../../product.ts";
import { CHECKOUT } from "../../../product-paths.ts";
import { addonOf, addonVersion, groupsOf, isStandIn } from "../../../toolchain/addons.ts";
import { addonGroups, goGroups, kubeStateMetricsGroup, prometheusRelease } from "../../../toolchain/go-groups.ts";
import {
  addonImages,
  addonNames,
  chartVersions,
  ensureAddonProgram,
  imageReferences,
  readAddonNames,
} from "../../../toolchain/index.ts";

/** The versions that Git pins for an environment, by name. */
const pinsIn = (file: string): Record<string, string> => parse(readFileSync(file, "utf8")).spec.postBuild.substitute;

const pinned = globSync("tools/*/versions.yaml", { cwd: contentFolder(CHECKOUT, "gitops-system") }).map(
  (path) => [basename(dirname(path)), join(contentFolder(CHECKOUT, "gitops-system"), path)] as const,
);

describe("the add-ons that are off by default", () => {
  test("have the images that their charts and manifests name", () =>
    expect(addonNames.flatMap(addonImages)).toEqual([
      "registry.k8s.io/external-dns/external-dns:v0.19.0",
      "quay.io/jetstack/cert-manager-controller:v1.21.2",
      "quay.io/jetstack/cert-manager-webhook:v1.21.2",
      "quay.io/jetstack/cert-manager-cainjector:v1.21.2",
      "registry.k8s.io/metrics-server/metrics-server:v0.9.0",
      "reg.kyverno.io/kyverno/kyverno:v1.19.1",
      "reg.kyverno.io/kyverno/kyvernopre:v1.19.1",
      "ghcr.io/kyverno/readiness-checker:v1.19.1",
      "ghcr.io/fluxcd/image-automation-controller:v1.2.4",
      "ghcr.io/fluxcd/image-reflector-controller:v1.2.4",
      "quay.io/prometheus/prometheus:v3.16.0",
      "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.18.0",
      "quay.io/prometheus/node-exporter:v1.12.1",
      "registry.k8s.io/cluster-api/cluster-api-controller:v1.12.0",
      "registry.k8s.io/cluster-api-aws/cluster-api-aws-controller:v2.11.1",
      "public.ecr.aws/eks/aws-load-balancer-controller:v3.2.2",
      "public.ecr.aws/karpenter/controller:1.14.1",
      "docker.io/velero/velero:v1.18.1",
      "docker.io/velero/velero-plugin-for-aws:v1.14.3",
      "public.ecr.aws/aws-controllers-k8s/dynamodb-controller:1.9.2",
      "public.ecr.aws/aws-controllers-k8s/sqs-controller:1.6.1",
    ]));

  test("are of the releases of Cluster API whose manifests a hub gets", () => {
    const sources = readFileSync(
      join(contentFolder(CHECKOUT, "gitops-system"), "platform/hub/cluster-api/sources.yaml"),
      "utf8",
    );
    const tags = parseAllDocuments(sources).map((source) => source.toJS().spec.ref.tag);
    expect(addonImages("cluster_api").map((image) => image.split(":")[1])).toEqual(tags);
  });

  test.each(pinned)(
    "have charts, or without one programs, of the versions that Git pins in %s, where it pins one",
    (_, file) => {
      const pins = pinsIn(file);
      const found = addonNames.filter((name) => pins[`${name}_version`] !== undefined);
      expect(found).toContain("metrics_server");
      expect(found.map((name) => [name, addonOf(name).chart?.version ?? addonVersion(name)])).toEqual(
        found.map((name) => [name, pins[`${name}_version`]]),
      );
    },
  );

  test("are no part of what npm start builds", () => {
    for (const group of addonGroups) expect(goGroups).not.toContain(group);
    for (const name of addonNames) {
      const addon = addonOf(name);
      const { chart } = addon;
      if (!isStandIn(addon) && chart !== undefined && chart.folder === undefined && chart.definitions === undefined)
        expect(chartVersions).toHaveProperty(chart.name, chart.version);
      else expect(Object.keys(chartVersions)).not.toContain(chart?.name);
      for (const image of addonImages(name)) expect(Object.values(imageReferences)).not.toContain(image);
    }
  });

  test("name the program of each image among those of its Go module", () => {
    for (const addon of addonNames.map(addonOf)) {
      if (isStandIn(addon)) continue;
      for (const { program, beside = {}, other } of Object.values(addon.images))
        expect((other?.group ?? addon.group).programs).toEqual(
          expect.arrayContaining([program, ...Object.values(beside)]),
        );
    }
  });

  // The programs of prometheus and of kyverno need newer modules than the others name. kube-state-metrics 2.18.0 doesn't compile with
  // Kubernetes 0.37, which Prometheus asks for.
  test.each([
    [
      "external_dns, cert_manager, metrics_server",
      (["external_dns", "cert_manager", "metrics_server"] as const).flatMap(groupsOf),
    ],
    ["prometheus, node-exporter", groupsOf("prometheus").filter((group) => group !== kubeStateMetricsGroup)],
  ])("share one another's versions in %s, so that nothing they share is compiled twice", (_, groups) => {
    const versions = new Map<string, Set<string>>();
    for (const { mod } of groups)
      for (const [path, version] of mod.versions) versions.set(path, (versions.get(path) ?? new Set()).add(version));
    expect([...versions].filter(([, of]) => of.size > 1)).toEqual([]);
  });
});

describe("the programs of an add-on, for use on this machine", () => {
  test("are those that its groups build; any other is refused with them", () =>
    expect(ensureAddonProgram("prometheus", "alertmanager", () => {})).rejects.toThrow(
      'the add-on prometheus has no program "alertmanager": it has prometheus, promtool, kube-state-metrics, node_exporter',
    ));
});

describe("the release of a version of Prometheus's Go module", () => {
  test.each([
    ["v0.308.1", "v3.8.1"],
    ["v0.316.0", "v3.16.0"],
  ])("%s is %s", (version, release) => expect(prometheusRelease(version)).toBe(release));
  test.each(["v0.48.1", "v0.308.1-rc.0", "v3.8.1"])("%s has none", (version) =>
    expect(() => prometheusRelease(version)).toThrow(version),
  );
});

describe("names of add-ons", () => {
  test("come back each once, in one order", () =>
    expect(readAddonNames(["cert_manager", "external_dns", "cert_manager"])).toEqual(["external_dns", "cert_manager"]));
  test("that nobody knows are refused with those that are allowed", () =>
    expect(() => readAddonNames(["external-dns", "cert_manager", ""])).toThrow(
      'unknown add-on "external-dns", "": allowed are external_dns, cert_manager, metrics_server, kyverno, image_automation, prometheus, cluster_api, aws_load_balancer_controller, karpenter, velero, ack_dynamodb, ack_sqs',
    ));
});
