import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { familyCrds, managedCrd } from "../../local/crossplane/provider-aws/crds.ts";
import { families } from "../../local/crossplane/provider-aws/kinds/index.ts";
import { ensureToolchain, type Toolchain } from "../../local/toolchain/index.ts";
import { build, files, type Manifest } from "../repos/support/kustomize.ts";
import { render, repos, withAddons } from "../repos/support/spoke.ts";
import { type ControlPlane, startControlPlane } from "./support/control-plane.ts";
import { definitionsOf, kubectlOf } from "./support/kubectl.ts";

/** What a spoke gets, on a real API server without nodes. */

const spoke = render(withAddons("minimal", []));
const own = "fleet-spoke-blue_payment-app";

let toolchain: Toolchain;
let plane: ControlPlane;
let client: ReturnType<typeof kubectlOf>;

const kubectl = (args: readonly string[], input?: object) => client.run(args, input);
const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const isPolicy = ({ kind }: Manifest) => kind.startsWith("ValidatingAdmissionPolicy");

beforeAll(async () => {
  toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  client = kubectlOf(toolchain, plane);
  const definitions = [
    ...definitionsOf("github.com/fluxcd/kustomize-controller"),
    ...[families.dynamodb, families.sqs, families.iam].flatMap((kinds) => kinds.map(definitionOf)),
    ...familyCrds,
  ];
  client.define(definitions);
  client.apply([namespace("spokes"), namespace("flux-system")]);
  const base = [...spoke.by("blue-base"), ...spoke.by("tools")];
  client.apply(base.filter(({ metadata }) => metadata.name === "admission-parameters"));
  client.apply(base.filter(isPolicy));
  client.apply(spoke.steps);
  const tenant = new Set(["Namespace", "ServiceAccount", "RoleBinding"]);
  const roles = spoke.by("workloads").filter(({ apiVersion }) => apiVersion.startsWith("rbac."));
  client.apply([...spoke.by("workloads").filter(({ kind }) => tenant.has(kind)), ...roles]);
});
afterAll(() => plane?.stop());

/** The definition that Crossplane makes of a provider's managed resource when it is activated. */
function definitionOf(kind: Parameters<typeof managedCrd>[0]) {
  const { spec, metadata } = managedCrd(kind) as { metadata: { name: string }; spec: object };
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata, spec };
}

describe("the manifests in repos/", () => {
  test("come out of kubectl kustomize as the unit tests build them", () => {
    const folders = files(repos)
      .filter((file) => file.endsWith("/kustomization.yaml") && !file.includes("/templates/"))
      .filter((file) => parse(readFileSync(file, "utf8")).kind === "Kustomization")
      .map((file) => join(file, ".."));
    expect(folders.length).toBeGreaterThan(10);
    const sorted = (manifests: readonly Manifest[]) =>
      [...manifests].sort((a, b) => (`${a.kind}/${a.metadata.name}` < `${b.kind}/${b.metadata.name}` ? -1 : 1));
    for (const folder of folders) {
      const args = ["kustomize", "--load-restrictor=LoadRestrictionsNone", folder];
      const real = parseAllDocuments(execFileSync(toolchain.bin("kubectl"), args, { encoding: "utf8" }));
      const theirs = sorted(real.map((document) => document.toJS() as Manifest));
      expect(isDeepStrictEqual(sorted(build(folder)), theirs), relative(repos, folder)).toBe(true);
    }
  });
});

describe("the order of removals", () => {
  const remove = (name: string, ...more: string[]) =>
    kubectl(["delete", "kustomization", name, "--namespace", "spokes", "--wait=false", ...more]);

  test("is refused out of turn, with the name of what is in the way", () => {
    const { ok, text } = remove("blue-tools", "--dry-run=server");
    expect(ok).toBe(false);
    expect(text).toContain("Kustomization blue-tools is removed after what depends on it");
    expect(text).toContain("Kustomization blue-workloads still exists");
  });

  test("goes from the applications back to the namespaces, when everything is asked to go at once", async () => {
    const gone: string[] = [];
    await expect
      .poll(
        () => {
          const names = spoke.steps.map(({ metadata }) => metadata.name).filter((name) => !gone.includes(name));
          gone.push(...names.filter((name) => remove(name).ok));
          return gone.length;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe(spoke.steps.length);
    const at = (name: string) => gone.indexOf(`blue-${name}`);
    const order = ["workloads", "tools", "sync", "flux", "sealed-secrets", "sealing-keys", "external-secrets", "base"];
    expect([...order].sort((a, b) => at(a) - at(b))).toEqual(order);
  });
});

describe("the removal of an application", () => {
  const inNamespace = ["--namespace", "payment-app"];
  const remove = (kind: string, name: string) =>
    kubectl(["delete", kind, name, ...(kind === "namespace" ? [] : inNamespace), "--dry-run=server"]);
  const governance: readonly (readonly [string, string])[] = [
    ["namespace", "payment-app"],
    ["serviceaccount", "deployer"],
    ["roles.rbac.authorization.k8s.io", "deployer"],
    ["rolebinding", "deployer"],
    ["providerconfigs.aws.m.upbound.io", "aws"],
  ];
  /** As Flux labels what it applies. */
  const team = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: {
      name: "of-the-team",
      namespace: "payment-app",
      labels: {
        "kustomize.toolkit.fluxcd.io/name": "payment-app",
        "kustomize.toolkit.fluxcd.io/namespace": "payment-app",
      },
    },
  };

  beforeAll(() => {
    const kinds = ["Kustomization", "ProviderConfig"];
    client.apply([...spoke.by("workloads").filter(({ kind }) => kinds.includes(kind)), team]);
  });

  test.each(governance)(
    "keeps the %s %s while Flux and Crossplane need it for what the team made",
    async (kind, name) => {
      const refusal = "is removed after what needs it; Kustomization payment-app/payment-app still exists";
      await expect.poll(() => remove(kind, name).text, { timeout: 30_000 }).toContain(refusal);
    },
  );

  test("lets go what the team made", () => {
    expect(remove("serviceaccount", "of-the-team")).toMatchObject({ ok: true });
  });

  test("lets go everything when the last Kustomization is gone", async () => {
    expect(kubectl(["delete", "kustomization", "payment-app", ...inNamespace])).toMatchObject({ ok: true });
    for (const [kind, name] of governance)
      await expect.poll(() => remove(kind, name).ok, { timeout: 30_000 }).toBe(true);
  });
});

interface Ordered {
  readonly api: string;
  readonly kind: string;
  readonly forProvider?: Record<string, string>;
  readonly externalName?: string;
  readonly config?: string;
}

describe("a tenant's orders in AWS", () => {
  const order = ({ api, kind, forProvider = {}, externalName, config = "ProviderConfig" }: Ordered) =>
    kubectl(["create", "--dry-run=server", "--filename", "-"], {
      apiVersion: `${api}.aws.m.upbound.io/v1beta1`,
      kind,
      metadata: {
        name: "trial",
        namespace: "payment-app",
        annotations: externalName === undefined ? {} : { "crossplane.io/external-name": externalName },
      },
      spec: {
        forProvider: { ...(api === "iam" ? {} : { region: "us-east-1" }), ...forProvider },
        providerConfigRef: { kind: config, name: "aws" },
      },
    });
  const url = (name: string) => `https://sqs.us-east-1.amazonaws.com/000000000000/${name}`;
  const policy = "{}";

  test.for<[string, Ordered]>([
    ["a table", { api: "dynamodb", kind: "Table", externalName: `${own}_orders` }],
    [
      "a queue that exists",
      { api: "sqs", kind: "Queue", forProvider: { name: `${own}_q` }, externalName: url(`${own}_q`) },
    ],
    ["its role", { api: "iam", kind: "Role", externalName: own, forProvider: { assumeRolePolicy: policy } }],
    ["a policy of its role", { api: "iam", kind: "RolePolicy", externalName: "p", forProvider: { role: own, policy } }],
  ])("are taken under the namespace's name: %s", ([, what]) => {
    expect(order(what)).toMatchObject({ ok: true });
  });

  test.for<[string, Ordered, string]>([
    [
      "another's table",
      { api: "dynamodb", kind: "Table", externalName: "fleet-spoke-blue_billing_t" },
      "names in AWS must be",
    ],
    [
      "a name that only begins alike",
      { api: "dynamodb", kind: "Table", externalName: `${own}2_t` },
      "names in AWS must be",
    ],
    ["no name at all", { api: "dynamodb", kind: "Table" }, "has no name in AWS of its own"],
    [
      "another's queue by its URL",
      { api: "sqs", kind: "Queue", forProvider: { name: `${own}_q` }, externalName: url("fleet-spoke-blue_billing_q") },
      "got fleet-spoke-blue_billing_q",
    ],
    [
      "a policy of the spoke's own role",
      {
        api: "iam",
        kind: "RolePolicy",
        externalName: "p",
        forProvider: { role: "fleet-spoke-blue-crossplane", policy },
      },
      "got fleet-spoke-blue-crossplane",
    ],
    [
      "an identity that is not the namespace's",
      { api: "dynamodb", kind: "Table", externalName: `${own}_t`, config: "ClusterProviderConfig" },
      "must name a ProviderConfig of the namespace",
    ],
    [
      "a kind that is not offered",
      { api: "iam", kind: "Policy", externalName: own, forProvider: { policy } },
      "can order",
    ],
  ])("are refused: %s", ([, what, message]) => {
    const { ok, text } = order(what);
    expect(ok).toBe(false);
    expect(text).toContain(message);
  });
});

describe("the service account under which Flux applies an application", () => {
  const may = (verb: string, resource: string, namespace: string) =>
    kubectl([
      ...["auth", "can-i", verb, resource, "--namespace", namespace],
      "--as=system:serviceaccount:payment-app:deployer",
    ]).ok;

  test("makes workloads, tables and queues in its namespace", () => {
    for (const resource of [
      "deployments",
      "services",
      "tables.dynamodb.aws.m.upbound.io",
      "queues.sqs.aws.m.upbound.io",
    ])
      expect(may("create", resource, "payment-app"), resource).toBe(true);
  });

  test("makes nothing in other namespaces and nothing cluster-wide, hands out no right and reads no Secret", () => {
    expect(may("create", "deployments", "default")).toBe(false);
    for (const resource of ["namespaces", "clusterroles", "roles.rbac.authorization.k8s.io", "rolebindings"])
      expect(may("create", resource, "payment-app"), resource).toBe(false);
    for (const resource of ["networkpolicies", "resourcequotas", "roles.iam.aws.m.upbound.io"])
      expect(may("create", resource, "payment-app"), resource).toBe(false);
    expect(may("get", "secrets", "payment-app")).toBe(false);
  });
});
