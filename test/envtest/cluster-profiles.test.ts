import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { KubeConfig } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inventoryApi } from "../../functions/spoke/inventory/api.ts";
import { readHubFacts } from "../../functions/spoke/inventory/cluster.ts";
import { pass } from "../../functions/spoke/inventory/pass.ts";
import { bridgeData } from "../../lib/bridge.ts";
import type { Editable } from "../e2e/support/repository.ts";
import { customResourceDefinition } from "../functions/spoke/support/definition.ts";
import { hub, spoke } from "../functions/spoke/support/fixtures.ts";
import { build } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";
import { root } from "../support/process.ts";
import { kubectlOf } from "./support/kubectl.ts";

/** The program that keeps ClusterProfiles, with its own rights, at a real API server without nodes. */

const name = "cluster-inventory";
const account = `system:serviceaccount:${name}:${name}`;
const authority = Buffer.from("-----BEGIN CERTIFICATE-----").toString("base64");
const objects = build(join(system, "platform/hub/cluster-inventory/release"));
const ofKind = (...kinds: string[]) => objects.filter(({ kind }) => kinds.includes(kind));

let plane: ControlPlane;
let client: ReturnType<typeof kubectlOf>;
let config: KubeConfig;

const ok = (args: readonly string[], input?: object): string => {
  const said = client.run(args, input);
  expect(said, said.text).toMatchObject({ ok: true });
  return said.text;
};
const profile = (of: string): Editable =>
  JSON.parse(ok(["get", "clusterprofile", of, "--namespace", name, "--output", "json"]));
const setStatus = (status: object) =>
  ok(
    ["patch", "spoke", "blue", "--namespace", "spokes", "--subresource=status", "--type=merge"].concat(
      "--patch",
      JSON.stringify({ status }),
    ),
  );

/** The command of the guide that waits for what the profiles of spokes need. */
function waitAsTheGuideSays(timeout: string) {
  const guide = readFileSync(join(root, "docs", "guides", "cluster-api.md"), "utf8");
  const [, command = ""] = /`kubectl (-n spokes wait [^`]*)`/.exec(guide) ?? [];
  return client.run(
    command
      .replaceAll("'", "")
      .replace(/--timeout=\S+/, `--timeout=${timeout}`)
      .split(" "),
  );
}

/** One look of the program. */
const look = () =>
  pass({
    api: inventoryApi(config, name, AbortSignal.timeout(30_000)),
    hub: readHubFacts(bridgeData(hub)),
    certificateAuthority: authority,
    now: new Date(),
  });

beforeAll(async () => {
  plane = await startControlPlane(await ensureToolchain());
  client = kubectlOf(await ensureToolchain(), plane);
  client.define([customResourceDefinition(), ...ofKind("CustomResourceDefinition")]);
  client.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "spokes" } }, ...ofKind("Namespace")]);
  client.apply(ofKind("ServiceAccount", "Role", "RoleBinding"));
  const { status: _, ...blue } = spoke();
  ok(["create", "--filename", "-"], { ...blue, metadata: { name: "blue", namespace: "spokes" } });
  config = new KubeConfig();
  const token = ok(["create", "token", name, "--namespace", name]).trim();
  const server = `https://${plane.address}:6443`;
  config.loadFromClusterAndUser({ name: "hub", server, skipTLSVerify: true }, { name, token });
});
afterAll(() => plane?.stop());

describe("the program that keeps ClusterProfiles", () => {
  const cluster = {
    name: "fleet-spoke-blue",
    arn: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-blue",
    endpoint: "https://blue.example",
    certificateAuthority: authority,
    oidcIssuer: "https://oidc.example/id/BLUE",
  };

  test("makes one of the hub and of a young Spoke, and changes nothing when it looks again", async () => {
    const { done, failed } = await look();
    expect(failed).toEqual([]);
    expect(done).toEqual(["hub: created", "blue: created", "hub: status", "blue: status"]);
    expect(await look()).toEqual({ done: [], failed: [] });
    expect(profile("hub").status).toMatchObject({
      version: { kubernetes: hub.kubernetesVersion },
      accessProviders: [{ name: "eks", cluster: { server: "https://kubernetes.default.svc" } }],
    });
    expect(profile("blue").status.conditions).toMatchObject([
      { type: "ControlPlaneHealthy", status: "False" },
      { type: "Joined", status: "False" },
    ]);
  });

  test("says what the Spoke says, once it has a control plane", async () => {
    const { certificateAuthority: _, ...withoutAuthority } = cluster;
    setStatus({ kubernetesVersion: "1.35", cluster: withoutAuthority });
    expect(waitAsTheGuideSays("1s")).toMatchObject({ ok: false, text: expect.stringContaining("timed out") });
    setStatus({ cluster });
    expect(waitAsTheGuideSays("30s")).toMatchObject({ ok: true });
    expect(await look()).toEqual({ done: ["blue: status"], failed: [] });
    expect(await look()).toEqual({ done: [], failed: [] });
    const { status } = profile("blue");
    expect(status.version).toEqual({ kubernetes: "1.35" });
    expect(status.properties).toContainEqual({ name: "fleet.internal/cluster_arn", value: cluster.arn });
    expect(status.accessProviders).toMatchObject([
      { name: "eks", cluster: { server: cluster.endpoint, "certificate-authority-data": authority } },
    ]);
    setStatus({ kubernetesVersion: "1.36" });
    expect(await look()).toEqual({ done: ["blue: status"], failed: [] });
    expect(profile("blue").status.version).toEqual({ kubernetes: "1.36" });
  });

  const meddle = (patch: object, ...more: string[]) =>
    ok(
      ["patch", "clusterprofile", "blue", "--namespace", name, "--type=merge", ...more].concat(
        "--patch",
        JSON.stringify(patch),
      ),
    );

  test("takes back what others write over, and leaves alone labels that they add", async () => {
    meddle({
      metadata: { labels: { "fleet.internal/tenant": "others", "fleet.internal/ring": "early", mine: "yes" } },
    });
    meddle({ status: { version: { kubernetes: "1.20" } } }, "--subresource=status");
    const { labels: theirs } = profile("blue").metadata;
    expect(theirs).toMatchObject({ "fleet.internal/ring": "early", mine: "yes" });
    expect(await look()).toEqual({ done: ["blue: labels and specification", "blue: status"], failed: [] });
    expect(await look()).toEqual({ done: [], failed: [] });
    const { metadata, status } = profile("blue");
    expect(metadata.labels).toMatchObject({ "fleet.internal/tenant": "platform", mine: "yes" });
    expect(metadata.labels).not.toHaveProperty("fleet.internal/ring");
    expect(status.version).toEqual({ kubernetes: "1.36" });
  });

  test("takes out of a status what others add to it, whichever way they write", async () => {
    const before = profile("blue").status;
    const another = { name: "another", cluster: { server: "https://elsewhere.example" } };
    const [eks] = before.accessProviders;
    const behindProxy = { ...eks, cluster: { ...eks.cluster, "proxy-url": "http://elsewhere.example" } };
    const added = { accessProviders: [behindProxy, another], credentialProviders: [another] };
    meddle({ status: added }, "--subresource=status");
    expect(profile("blue").status).toMatchObject(added);
    expect(await look()).toEqual({ done: ["blue: status"], failed: [] });
    expect(profile("blue").status).toEqual(before);

    // A field manager of their own, to which the fields that it has applied belong.
    const { apiVersion, kind } = profile("blue");
    const applied = { apiVersion, kind, metadata: { name: "blue", namespace: name }, status: added };
    const asOthers = ["apply", "--server-side", "--field-manager=others", "--subresource=status", "--force-conflicts"];
    ok([...asOthers, "--filename", "-"], applied);
    expect(profile("blue").status).toMatchObject({ credentialProviders: [another] });
    expect(await look()).toEqual({ done: ["blue: status"], failed: [] });
    expect(await look()).toEqual({ done: [], failed: [] });
    expect(profile("blue").status).toEqual(before);
  });

  test("removes the profile of a Spoke that is gone", async () => {
    ok(["delete", "spoke", "blue", "--namespace", "spokes"]);
    expect(await look()).toEqual({ done: ["blue: removed"], failed: [] });
    expect(client.run(["get", "clusterprofile", "blue", "--namespace", name]).text).toContain("not found");
  });

  test("leaves a profile of another cluster manager alone that has the name of a cluster, and says so", async () => {
    const { apiVersion, kind, spec } = profile("hub");
    ok(["delete", "clusterprofile", "hub", "--namespace", name]);
    const theirs = { ...spec, clusterManager: { name: "another" } };
    ok(["create", "--filename", "-"], { apiVersion, kind, metadata: { name: "hub", namespace: name }, spec: theirs });
    const { done, failed } = await look();
    expect(done).toEqual([]);
    expect(failed).toEqual([expect.stringMatching(/^can't patch the profile hub: 422 .*ClusterManager is immutable/)]);
    expect(profile("hub")).toMatchObject({ spec: theirs });
    expect(profile("hub")).not.toHaveProperty("status");
    ok(["delete", "clusterprofile", "hub", "--namespace", name]);
    expect(await look()).toEqual({ done: ["hub: created", "hub: status"], failed: [] });
  });

  test("may do nothing on the hub but list Spokes and keep profiles in its own namespace", () => {
    const rightsIn = (namespace: string): Editable[] => {
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
      const said = ok(["create", "--as", account, "--validate=false", "--output", "json", "--filename", "-"], review);
      const { resourceRules } = JSON.parse(said).status;
      // Everybody may ask what they may do.
      return resourceRules.filter(
        ({ resources }: Editable) => !resources.every((each: string) => each.startsWith("selfsubject")),
      );
    };
    expect(rightsIn("spokes")).toMatchObject([
      { apiGroups: ["fleet.internal"], resources: ["spokes"], verbs: ["list"] },
    ]);
    expect(rightsIn(name)).toHaveLength(2);
    for (const namespace of ["flux-system", "default"]) expect(rightsIn(namespace)).toEqual([]);
    const refused = [
      ["get", "secrets", "--namespace", "spokes"],
      ["get", "configmaps", "--namespace", "spokes"],
      ["delete", "spoke", "blue", "--namespace", "spokes"],
      ["get", "clusterprofiles", "--namespace", "spokes"],
      ["get", "secrets", "--namespace", name],
      ["delete", "deployment", name, "--namespace", name],
      ["get", "clusterprofiles", "--all-namespaces"],
    ];
    for (const args of refused) {
      const { ok: isAllowed, text } = client.run([...args, "--as", account]);
      expect([isAllowed, text], args.join(" ")).toEqual([false, expect.stringContaining("Forbidden")]);
    }
  });
});

test("the namespace takes the program's pod, as it is in Git", () => {
  const [deployment] = ofKind("Deployment");
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: name },
    spec: deployment?.spec.template.spec,
  };
  const text = JSON.stringify(pod).replaceAll(/\$\{\w+\}/g, "x");
  expect(ok(["create", "--dry-run=server", "--filename", "-"], JSON.parse(text))).not.toContain("would violate");
});

test("the definition refuses a list as an extension: arguments of a program can't be in a profile", () => {
  const extensions = [
    { name: "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", extension: ["--cluster-name", "blue"] },
  ];
  const status = { accessProviders: [{ name: "eks", cluster: { server: "https://blue.example", extensions } }] };
  const patch = ["--subresource=status", "--type=merge", "--patch", JSON.stringify({ status })];
  const said = client.run(["patch", "clusterprofile", "hub", "--namespace", name, ...patch]);
  expect(said).toMatchObject({ ok: false });
  expect(said.text).toContain("extension in body must be of type object");
});
