import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ackDefinitions, chartFiles, readSettings } from "@eks-gitops-fleet/local/ack";
import { builtHelm } from "@eks-gitops-fleet/local/toolchain";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { helmProgram } from "../../cli/diff/charts.ts";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { temporaryFolder } from "../support/temporary.ts";
import type { Manifest } from "./support/kustomize.ts";
import { render, withAddons } from "./support/spoke.ts";

/** The charts of the stand-in for ACK's controllers, as helm renders them with the values that Git gives upstream's. */

const { helm = await builtHelm() } = helmProgram();
const scratch = temporaryFolder("fleet-ack-charts");

const controllers = [
  { service: "dynamodb", kind: "Table", plural: "tables" },
  { service: "sqs", kind: "Queue", plural: "queues" },
] as const;
const rendered = render(withAddons("minimal", ["ack_dynamodb", "ack_sqs"]), {
  hub: { ...fixtures.hub, chartsRegistry: "" },
});
const fromGit = (service: string) => {
  const objects = rendered.by(`ack-${service}`);
  const values = parse(objects.find(({ kind }) => kind === "ConfigMap")?.["data"]["values.yaml"]);
  const chart = objects.find(({ kind }) => kind === "HelmRelease")?.spec.chart.spec;
  return { values, chart };
};

describe.skipIf(helm === undefined).each(controllers)(
  "the chart of the stand-in for $service",
  ({ service, kind, plural }) => {
    const { values, chart } = fromGit(service);
    const folder = join(scratch, service);
    const files = chartFiles(service, chart.version);

    beforeAll(() => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
    });

    function template(change: object = {}): { readonly objects: Manifest[]; readonly stderr: string } {
      const [own, more] = ["own", "more"].map((file) => join(scratch, `${service}-${file}.yaml`)) as [string, string];
      writeFileSync(own, stringify(values));
      writeFileSync(more, stringify(change));
      const args = ["template", `ack-${service}`, folder, "--namespace", `ack-${service}`, "--include-crds"];
      const { stdout, stderr, status } = spawnSync(helm ?? "helm", [...args, "--values", own, "--values", more], {
        encoding: "utf8",
      });
      const documents = status === 0 ? parseAllDocuments(stdout).map((document) => document.toJS()) : [];
      return { objects: documents.filter((object) => object !== null), stderr };
    }
    const named = (objects: readonly Manifest[], wanted: string, name?: string): Manifest => {
      const found = objects.filter(
        (object) => object.kind === wanted && (name === undefined || object.metadata.name === name),
      );
      expect(found, `${wanted} ${name ?? ""}`).toHaveLength(1);
      return found[0] as Manifest;
    };

    test("has the name and version that Git pins for upstream's, and says in each file that it is a stand-in", () => {
      expect(parse(files["Chart.yaml"] ?? "")).toMatchObject({ name: chart.chart, version: chart.version });
      for (const [path, text] of Object.entries(files)) expect(text.slice(0, 300), path).toMatch(/stand-in/);
    });

    test("takes the values that Git has, and runs the program with flags that it takes, as the add-on's service account", () => {
      const { objects, stderr } = template();
      expect(stderr).toBe("");
      const { spec } = named(objects, "Deployment", `ack-${service}`).spec.template;
      const [container] = spec.containers;
      expect(container.image).toBe(`public.ecr.aws/aws-controllers-k8s/${service}-controller:${chart.version}`);
      expect(readSettings(container.args)).toMatchObject({
        ...{ service, region: "us-east-1", deletionPolicy: "delete", resyncMs: 36_000_000, mayAdopt: true },
        resourceTags: values.resourceTags,
      });
      expect(spec.serviceAccountName).toBe(`ack-${service}-controller`);
      expect(named(objects, "ServiceAccount", spec.serviceAccountName).metadata.annotations).toEqual(
        values.serviceAccount.annotations,
      );
      expect(container.securityContext).toMatchObject({ runAsNonRoot: true, allowPrivilegeEscalation: false });
    });

    test("brings the definition of its kind alone, which the tests of manifests use too", () => {
      const found = template().objects.filter((object) => object.kind === "CustomResourceDefinition");
      expect(found).toEqual(ackDefinitions.filter(({ spec }) => spec.names.kind === kind));
    });

    test("has upstream's rights: on the whole cluster, or in the namespaces that the values name", () => {
      const whole = template().objects;
      const { rules } = named(whole, "ClusterRole", `ack-${service}`) as unknown as { rules: object[] };
      const own = { apiGroups: [`${service}.services.k8s.aws`], resources: [plural] };
      expect(rules).toContainEqual({ ...own, verbs: ["create", "delete", "get", "list", "patch", "update", "watch"] });
      expect(rules).toContainEqual({
        ...{ apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "list", "patch", "watch"] },
      });
      const { objects } = template({ installScope: "namespace", watchNamespace: "payment-app,shop" });
      expect(objects.filter(({ kind }) => kind === "ClusterRole").map(({ metadata }) => metadata.name)).toEqual([
        `ack-${service}-namespaces-cache`,
      ]);
      for (const namespace of ["payment-app", "shop"]) {
        expect(named(objects, "Role", `ack-${service}-${namespace}`).metadata.namespace).toBe(namespace);
        expect(named(objects, "RoleBinding", `ack-${service}-${namespace}`).metadata.namespace).toBe(namespace);
      }
      const [container] = named(objects, "Deployment").spec.template.spec.containers;
      expect(readSettings(container.args).namespaces).toEqual(["payment-app", "shop"]);
    });

    test("hands on the period between two looks", () => {
      const change = { reconcile: { defaultResyncPeriod: 60, resourceResyncPeriods: { [kind]: 30 } } };
      const [container] = named(template(change).objects, "Deployment").spec.template.spec.containers;
      expect(container.args).toContain("--reconcile-default-resync-seconds=60");
      expect(readSettings(container.args).resyncMs).toBe(30_000);
    });

    test.each([
      [{ enableCARM: true }, "enableCARM"],
      [{ featureGates: { IAMRoleSelector: true } }, "IAMRoleSelector"],
      [{ aws: { endpoint_url: "https://example.com" } }, "endpoint_url"],
      [{ watchSelectors: "a=b" }, "watchSelectors"],
      [{ leaderElection: { enabled: true } }, "leaderElection"],
      [{ deployment: { replicas: 2 } }, "replicas"],
      [{ reconcile: { resources: ["Backup"] } }, "resources"],
    ])("refuses %j and names it", (change, field) => {
      const { objects, stderr } = template(change);
      expect(objects).toEqual([]);
      expect(stderr).toContain(field);
    });
  },
);
