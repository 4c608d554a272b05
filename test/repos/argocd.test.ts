import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { argocdController, argocdPushTemplate, argocdSecretsStore } from "../../lib/argocd.ts";
import { fleetNames } from "../../lib/names.ts";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { World } from "../functions/spoke/support/world.ts";
import { substituted } from "./support/flux.ts";
import { build, documents, type Manifest, type Patch, patched } from "./support/kustomize.ts";
import { app, instantiated, render, repos, system, withAddons } from "./support/spoke.ts";

/** Argo CD on a spoke (the add-on), and in another cluster than the hub: what Git has of them. */

const spoke = render(withAddons("minimal", ["argocd"]));
const own = spoke.by("argocd");
const one = (objects: readonly Manifest[], wanted: string): Manifest => {
  const found = objects.find(({ kind }) => kind === wanted);
  if (found === undefined) throw new Error(`there is no ${wanted}`);
  return found;
};
const release = one(own, "HelmRelease");
const values = parse(one(own, "ConfigMap")["data"]["values.yaml"]);
const ofHub = one(documents(join(system, "platform", "hub", "argocd", "release", "release.yaml")), "HelmRelease").spec;

describe("the add-on argocd", () => {
  test("is the chart of the hub's Argo CD in the same version, with the same settings", () => {
    const { chart, version } = ofHub.chart.spec;
    expect(release.spec.chart.spec).toMatchObject({ chart, version });
    expect(values.configs).toEqual(ofHub.values.configs);
  });

  test("has rights in its own namespace only, no role in AWS, and no API server with accounts", () => {
    expect(values.createClusterRoles).toBe(false);
    expect(JSON.stringify(values)).not.toContain("eks.amazonaws.com/role-arn");
    expect(values.server).toEqual({ replicas: 0 });
    expect([values.dex, values.notifications]).toEqual([{ enabled: false }, { enabled: false }]);
    expect(own.filter(({ apiVersion }) => apiVersion.startsWith("rbac."))).toEqual([]);
  });

  test("keeps Helm's records where gitops-workloads writes no Secrets", () => {
    expect(release.spec).toMatchObject({ targetNamespace: "argocd", storageNamespace: "flux-system" });
  });

  test("takes its kinds along when it goes, and takes its values from every cluster's, the environment's and its own", () => {
    expect(values.crds).toEqual({ keep: false });
    expect(release.spec.valuesFrom.map(({ name }: { name: string }) => name)).toEqual([
      "argocd-values",
      "argocd-values-environment",
      "argocd-values-cluster",
    ]);
  });
});

describe("the template of what Argo CD delivers on a spoke", () => {
  const filled = { ...app, cluster: "blue", path: "overlays/dev" };
  const template = join(repos, "gitops-workloads", "templates", "argocd");
  const made = <T>(use: (folder: string) => T): T => instantiated(template, filled, {}, use);
  const built = (folder: string) =>
    made((at) => build(join(at, folder))).map((manifest) => substituted(manifest, spoke.bridge));
  const steps = made((folder) => build(folder));
  const cluster = built("cluster");
  const applications = built("applications");

  test("is removed before what Argo CD knows and may do, and that before Argo CD", () => {
    expect(steps.map(({ metadata, spec }) => [metadata.name, spec.dependsOn])).toEqual([
      ["argocd-cluster", [{ name: "argocd" }]],
      [
        "argocd-applications",
        [
          { name: "argocd" },
          // An Application that goes in the same commit as its namespace keeps argocd-cluster from being ready, and goes by this step.
          { name: "argocd-cluster", readyExpr: "true" },
        ],
      ],
    ]);
    for (const { metadata, spec } of steps) {
      expect(metadata.namespace).toBe("flux-system");
      expect(spec).toMatchObject({ prune: true, wait: true, deletionPolicy: "WaitForTermination" });
    }
    const project = one(applications, "AppProject");
    const template = one(applications, "ApplicationSet").spec.template;
    for (const { metadata } of [project, template])
      expect(metadata["finalizers"]).toEqual(["resources-finalizer.argocd.argoproj.io"]);
  });

  test("gives Argo CD in the application's namespace the rights that Flux has there, and nothing of no namespace", () => {
    const bindings = cluster.filter(({ apiVersion }) => apiVersion.startsWith("rbac."));
    expect(
      bindings.map(({ kind, metadata, roleRef, subjects }) => [kind, metadata.namespace, roleRef, subjects]),
    ).toEqual([
      [
        "RoleBinding",
        app.app,
        { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "deployer" },
        [{ kind: "ServiceAccount", name: argocdController, namespace: release.spec.targetNamespace }],
      ],
    ]);
    // Its service account is called as the chart calls it.
    expect(values.controller).not.toHaveProperty("serviceAccount");
  });

  test("tells Argo CD of that namespace alone, of the cluster's facts, and of no credential", () => {
    const { metadata, stringData } = one(cluster, "Secret");
    expect(stringData).toEqual({
      name: "blue",
      server: "https://kubernetes.default.svc",
      namespaces: app.app,
      clusterResources: "false",
      config: '{"tlsClientConfig":{"insecure":false}}',
    });
    const { labels = {}, annotations: all = {} } = metadata;
    // What the admission policy reads is what Argo CD does.
    const { "fleet.internal/argocd-namespaces": listed, ...annotations } = all;
    expect(listed).toBe(stringData.namespaces);
    expect(labels).toMatchObject({ "argocd.argoproj.io/secret-type": "cluster", environment: "dev" });
    expect(annotations).toMatchObject({ aws_cluster_name: "fleet-spoke-blue", aws_account_id: "000000000000" });
    for (const [key, value] of Object.entries(annotations)) expect([key, value]).toEqual([key, spoke.bridge[key]]);
    for (const value of [...Object.values(labels), ...Object.values(annotations)]) expect(typeof value).toBe("string");
  });

  test("confines the team to its own repository and namespace, and names the pods' role by the cluster's facts", () => {
    const project = one(applications, "AppProject");
    expect(project.spec).toEqual({
      sourceRepos: [app.repositoryUrl],
      destinations: [{ server: "https://kubernetes.default.svc", namespace: app.app }],
      clusterResourceWhitelist: [],
    });
    const { spec } = one(applications, "ApplicationSet").spec.template;
    expect(spec).toMatchObject({
      project: project.metadata.name,
      destination: { namespace: app.app },
      source: { repoURL: app.repositoryUrl, path: "overlays/dev" },
    });
    const facts = one(cluster, "Secret").metadata.annotations ?? {};
    const text: string = spec.source.kustomize.patches[0].patch;
    const patch = parse(
      text.replaceAll(/\{\{ \.metadata\.annotations\.(\w+) \}\}/g, (_, key) => facts[key] ?? `no ${key}`),
    );
    expect(patch.metadata.annotations).toEqual({
      "eks.amazonaws.com/role-arn": `arn:aws:iam::000000000000:role/fleet-spoke-blue_${app.app}`,
    });
  });
});

describe("Argo CD elsewhere", () => {
  const push = one(build(join(system, "spoke-bootstrap", "argocd-elsewhere")), "PushSecret").spec;
  const there = instantiated(
    join(system, "templates", "argocd-elsewhere"),
    { fleet: "fleet", spoke: "blue", region: "us-east-1", readerRoleArn: "arn:aws:iam::000000000000:role/reader" },
    {},
    build,
  );
  const external = one(there, "ExternalSecret").spec;

  test("gets spokes through the store that the stack makes, and loses them with the spoke", () => {
    expect(push.secretStoreRefs).toEqual([{ kind: "SecretStore", name: argocdSecretsStore }]);
    expect(push.deletionPolicy).toBe("Delete");
    expect(external.target.deletionPolicy).toBe("Delete");
  });

  test("gets a PushSecret of the Secret beside it, of what the function fills in", () => {
    const identities = {
      argocd: { roleArn: "arn:aws:iam::111111111111:role/argocd", namespace: "cd", serviceAccount: "argocd" },
      argocd_secrets: { roleArn: "arn:aws:iam::000000000000:role/writer", namespace: "cd", serviceAccount: "writer" },
    };
    const world = new World(fixtures.example("minimal"), {
      hub: { ...fixtures.hub, identities: { ...fixtures.hub.identities, ...identities } },
      settings: fixtures.settings({ argocd: { namespaces: ["shop"] } }),
    });
    world.settle();
    const made = world.object("argocd").spec as { path: string; patches: Patch[] };
    const objects = made.patches.reduce<Manifest[]>(
      (all, patch) => patched(all, patch),
      build(join(system, made.path)),
    );
    const [secret, pushed] = [one(objects, "Secret"), one(objects, "PushSecret")];
    expect(pushed.spec.selector.secret.name).toBe(secret.metadata.name);
    expect(pushed.metadata.name).toBe("cluster-blue");
    const [{ match, metadata }, ...others] = pushed.spec.data;
    expect(others).toEqual([]);
    expect(match).toEqual({ remoteRef: { remoteKey: "fleet/argocd/blue" } });
    expect(metadata.spec.tags).toMatchObject({ "fleet.internal/cluster": "blue" });
    expect(Object.keys(pushed.spec.template.data).sort()).toEqual(
      [...Object.keys(secret["data"]), "annotations", "labels"].sort(),
    );
  });

  test("reads each spoke where the hub writes it, as a role that its own service account has", () => {
    expect(external.dataFrom).toEqual([{ extract: { key: fleetNames("fleet").argocdSecret("blue") } }]);
    const store = one(there, "SecretStore");
    expect(external.secretStoreRef).toEqual({ kind: "SecretStore", name: store.metadata.name });
    expect(store.spec.provider.aws.auth.jwt.serviceAccountRef.name).toBe(one(there, "ServiceAccount").metadata.name);
  });

  test("makes a cluster secret of every member that the hub writes, labels and annotations included", () => {
    const secret = {
      labels: { ring: "early" } as never,
      annotations: { quote: '"', told: "{{ not a template }}" } as never,
      data: { name: "blue", server: "https://blue", config: "{}", namespaces: "shop", clusterResources: "false" },
    };
    const members = argocdPushTemplate(secret);
    const { data, templateFrom } = external.target.template;
    const read = [...Object.values<string>(data), ...templateFrom.map(({ literal }: { literal: string }) => literal)];
    expect(read.map((text) => text.replace(/^\{\{ \.(\w+) \}\}$/, "$1")).sort()).toEqual(Object.keys(members).sort());
    for (const [key, text] of Object.entries(data)) expect(text).toBe(`{{ .${key} }}`);
    expect(templateFrom.map(({ target }: { target: string }) => target)).toEqual(["Labels", "Annotations"]);
    expect(JSON.parse(members["labels"] ?? "")).toEqual(secret.labels);
    // What looks like a template stands for itself.
    expect(members["annotations"]?.replaceAll('{{ "{{" }}', "{{")).toBe(JSON.stringify(secret.annotations));
  });
});
