import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { chartVersions, ensureToolchain, type Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { Crossplane } from "../../components/crossplane.ts";
import { build, type Manifest } from "../repos/support/kustomize.ts";
import { render, system, withAddons } from "../repos/support/spoke.ts";
import { recorded } from "../support/program.ts";
import { kubectlOf } from "./support/kubectl.ts";
import { byResource, rightsOf } from "./support/rights.ts";

/** What Crossplane's pods may do in the API of the cluster on which they run: its chart and the ClusterRoles in Git, on a real API server. */

const namespace = "crossplane-system";
const spoke = render(withAddons("minimal", ["rds_instances", "s3_buckets"]));

async function hubValues(): Promise<object> {
  const { resources } = await recorded("test", async () => new Crossplane("x"));
  return resources.find(({ type }) => type.endsWith(":Release"))?.inputs["values"];
}

const clusters = {
  hub: { values: hubValues, objects: build(join(system, "platform", "crossplane", "packages")) },
  spoke: {
    values: async () => spoke.by("crossplane").find(({ kind }) => kind === "HelmRelease")?.spec.values,
    objects: ["crossplane-packages", "rds-instances", "s3-buckets"].flatMap((step) => spoke.by(step)),
  },
};

/** The chart's objects with the cluster's own values. */
function charted(toolchain: Toolchain, values: object): Manifest[] {
  const archive = join(toolchain.charts, `crossplane-${chartVersions.crossplane}.tgz`);
  const flags = ["--namespace", namespace, "--values", "-"];
  const text = execFileSync(toolchain.bin("helm"), ["template", "crossplane", archive, ...flags], {
    encoding: "utf8",
    input: JSON.stringify(values),
    maxBuffer: 2 ** 26,
  });
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

const isPermission = ({ apiVersion }: Manifest) => apiVersion.startsWith("rbac.");
const golden = parse(readFileSync(join(import.meta.dirname, "golden", "crossplane-rights.yaml"), "utf8"));

describe.each(Object.entries(clusters))(
  "on the %s, the permissions of Crossplane's service accounts",
  (name, cluster) => {
    let plane: ControlPlane;
    let client: ReturnType<typeof kubectlOf>;
    let chart: Manifest[];

    beforeAll(async () => {
      const toolchain = await ensureToolchain();
      plane = await startControlPlane(toolchain);
      client = kubectlOf(toolchain, plane);
      chart = charted(toolchain, (await cluster.values()) ?? {});
      client.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
      client.apply([...chart, ...cluster.objects].filter(isPermission));
    });
    afterAll(() => plane?.stop());

    test.each(Object.keys(golden[name]))("are exactly the recorded ones, for %s", async (account) => {
      const { of } = rightsOf(client);
      const user = (each: string) => `system:serviceaccount:${namespace}:${each}`;
      const everyone = of(user("another"), namespace);
      const own = () => byResource(of(user(account), namespace).filter((right) => !everyone.includes(right)));
      // The API server's authorizer learns of new roles with a delay.
      await expect.poll(own, { timeout: 60_000, interval: 1000 }).toEqual(golden[name][account]);
    });

    test("are recorded for each account with a role, and for each package", () => {
      const subjects = [...chart, ...cluster.objects]
        .filter(({ kind }) => kind === "ClusterRoleBinding")
        .flatMap((binding) => binding["subjects"] as { kind: string; name: string; namespace: string }[]);
      for (const subject of subjects) expect(subject).toMatchObject({ kind: "ServiceAccount", namespace });
      const templates = cluster.objects
        .filter(({ kind }) => kind === "DeploymentRuntimeConfig")
        .map(
          ({ spec }) =>
            spec.deploymentTemplate.spec.template.spec.serviceAccountName ?? spec.serviceAccountTemplate.metadata.name,
        );
      const accounts = new Set([...subjects.map((subject) => subject.name), ...templates]);
      expect([...accounts].sort()).toEqual(Object.keys(golden[name]).sort());
    });
  },
);

test("no provider reads Secrets or changes roles, except that the databases' one reads Secrets on a spoke", () => {
  const powerful = /^(secrets|\*)\.\*?$|^[^.]+\.rbac\.|^serviceaccounts/;
  const found = Object.entries(golden as Record<string, Record<string, Record<string, string>>>).flatMap(
    ([name, { crossplane: _, ...accounts }]) =>
      Object.entries(accounts).flatMap(([account, rights]) =>
        Object.keys(rights).flatMap((right) => (powerful.test(right) ? `${name} ${account} ${right}` : [])),
      ),
  );
  expect(found).toEqual(["spoke provider-aws-rds secrets."]);
});
