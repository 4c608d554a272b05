import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { chartVersions, ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { build, type Manifest } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";
import { asked } from "./support/admission-cluster.ts";
import {
  crossplaneScope,
  labelledNamespace,
  removedByCrossplane,
  tokenRefused,
  tokenRequest,
} from "./support/crossplane-scope.ts";
import { definitionsOf, kubectlOf } from "./support/kubectl.ts";
import { byResource, rightsOf } from "./support/rights.ts";

/** What Crossplane's pods may do in the hub's API: the permissions that its chart and its own RBAC manager grant, and the admission of what they write. */

const policy = "crossplane.fleet.internal";
const place = "crossplane-system";
const account = (name: string) => `system:serviceaccount:${place}:${name}`;
const platform = (folder: string) => build(join(system, "platform", folder));
const metadata = (name: string, more: object = {}) => ({ metadata: { name, ...more } });

let plane: ControlPlane;
let client: ReturnType<typeof kubectlOf>;
let manager: ChildProcess;

const asMaster = (by: string) => [`--as=${by}`, "--as-group=system:masters"];

/** A package as Crossplane's package manager leaves it: its revision owns the definitions of its kinds, and a Deployment. */
function installed(): void {
  const [activation] = platform("crossplane/packages").filter(({ kind }) => kind === "ManagedResourceActivationPolicy");
  const pkg = "pkg.crossplane.io/v1";
  const name = "provider-aws";
  const spec = { desiredState: "Active", image: "example.com/provider:v1", revision: 1 };
  client.apply([{ apiVersion: pkg, kind: "ProviderRevision", ...metadata(name), spec }]);
  const objectRefs = ((activation?.spec.activate ?? []) as string[]).map((each) => ({
    ...{ apiVersion: "apiextensions.crossplane.io/v1alpha1", kind: "ManagedResourceDefinition", name: each },
  }));
  const patch = JSON.stringify({ status: { objectRefs, capabilities: ["SafeStart"] } });
  const { ok, text } = client.run([
    "patch",
    "providerrevision",
    name,
    "--subresource=status",
    "--type=merge",
    "--patch",
    patch,
  ]);
  if (!ok) throw new Error(text);
  const { uid } = JSON.parse(client.run(["get", "providerrevision", name, "--output", "json"]).text).metadata;
  const labels = { app: name };
  client.apply([
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      ...metadata(name, {
        namespace: place,
        ownerReferences: [{ apiVersion: pkg, kind: "ProviderRevision", name, uid }],
      }),
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: name, containers: [{ name: "it", image: "example.com/it:1" }] },
        },
      },
    },
  ]);
}

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  client = kubectlOf(toolchain, plane);
  client.define(definitionsOf("github.com/crossplane/crossplane/v2"));
  const namespaces = ["flux-system", "spokes", place].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    ...metadata(name),
  }));
  client.apply([...namespaces, labelledNamespace, ...platform("crossplane/policies")]);
  const archive = join(toolchain.charts, `crossplane-${chartVersions.crossplane}.tgz`);
  const chart = execFileSync(toolchain.bin("helm"), ["template", "crossplane", archive, "--namespace", place], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const rights = parseAllDocuments(chart)
    .map((document) => document.toJS() as Manifest | null)
    .filter(
      (object): object is Manifest =>
        object !== null && (object.apiVersion.startsWith("rbac.") || object.kind === "ServiceAccount"),
    );
  client.apply([
    ...rights.map((each) =>
      each.kind === "ServiceAccount" ? { ...each, metadata: { ...each.metadata, namespace: place } } : each,
    ),
  ]);
  client.apply(platform("api").filter(({ kind }) => kind === "ClusterRole"));
  client.apply(platform("api").filter(({ kind }) => kind === "CompositeResourceDefinition"));
  installed();
  const log = openSync(join(plane.dir, "rbac-manager.log"), "a");
  manager = spawn(toolchain.bin("crossplane"), ["rbac", "start"], {
    stdio: ["ignore", log, log],
    env: { ...process.env, KUBECONFIG: plane.kubeconfigFile },
  });
  closeSync(log);
  const bound = () =>
    client.run(["get", "clusterrolebinding", "crossplane:provider:provider-aws:system", "--output", "json"]);
  await vi
    .waitUntil(() => bound().ok && JSON.parse(bound().text).subjects?.length === 1, { timeout: 120_000, interval: 500 })
    .catch(() => {
      throw new Error(readFileSync(join(plane.dir, "rbac-manager.log"), "utf8").slice(-4000));
    });
  const refused = crossplaneScope.find((each) => each.refused !== undefined && each.from === undefined);
  if (refused === undefined) throw new Error("no case is rejected");
  await vi.waitUntil(() => asked(client, refused).text.includes(policy), { timeout: 60_000, interval: 500 });
});
afterAll(async () => {
  manager?.kill("SIGKILL");
  await plane?.stop();
});

describe("the admission of what Crossplane's pods write", () => {
  test.for(crossplaneScope.map((each) => [each.refused ? "rejects" : "admits", each.title, each] as const))(
    "%s %s",
    ([, , each]) => {
      const { ok, text } = asked(client, each);
      expect(ok, text).toBe(each.refused === undefined);
      expect(text.replaceAll(/\s+/g, " ")).toContain(each.refused ?? "");
    },
  );

  test.for(removedByCrossplane.map((each) => [each.refused ? "rejects" : "admits", each.title, each] as const))(
    "%s %s",
    ([, , { object, by = "", refused }]) => {
      expect(client.run(["create", "--filename", "-"], object)).toMatchObject({ ok: true });
      const { ok, text } = client.run(["delete", "--dry-run=server", ...asMaster(by), "--filename", "-"], object);
      expect(client.run(["delete", "--filename", "-"], object)).toMatchObject({ ok: true });
      expect(ok, text).toBe(refused === undefined);
      expect(text.replaceAll(/\s+/g, " ")).toContain(refused ?? "");
    },
  );

  test.for(["flux-system", place])("rejects a token of a service account in %s", (namespace) => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
    const request = { ...tokenRequest, metadata: { name: "default", namespace } };
    const create = (by: string) => client.run(["create", "--raw", path, ...asMaster(by), "--filename", "-"], request);
    for (const name of ["crossplane", "rbac-manager", "provider-aws"]) {
      const { ok, text } = create(account(name));
      expect(ok, text).toBe(false);
      expect(text).toContain(tokenRefused);
    }
    expect(create("system:serviceaccount:kube-system:anybody")).toMatchObject({ ok: true });
  });

  test("is by expressions that fit the kinds", async () => {
    const status = () => JSON.parse(client.run(["get", "validatingadmissionpolicy", policy, "-o", "json"]).text).status;
    await expect.poll(status, { timeout: 60_000 }).toMatchObject({ observedGeneration: 1 });
    expect(status().typeChecking?.expressionWarnings ?? []).toEqual([]);
  });
});

describe("the permissions of Crossplane's service accounts", () => {
  const expected = parse(readFileSync(join(import.meta.dirname, "golden", "crossplane-rights.yaml"), "utf8")) as Record<
    string,
    object
  >;

  test.for(["crossplane", "rbac-manager", "provider-aws", "function-spoke"])(
    "are those that are recorded, of %s",
    async (name) => {
      const { of } = rightsOf(client);
      const anybody = of(account("anybody"), place);
      // The API server aggregates roles and sees new ones with a delay.
      const own = () => byResource(of(account(name), place).filter((right) => !anybody.includes(right)));
      await expect.poll(own, { timeout: 60_000, interval: 1000 }).toEqual(expected[name]);
    },
  );
});
