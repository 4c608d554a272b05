import { chartVersions, imageReferences } from "@eks-gitops-fleet/local/toolchain";
import { describe, expect, test } from "vitest";
import { fluxTags } from "../../components/versions.ts";
import { fromBase64 } from "../../lib/base64.ts";
import { bridgeKeys } from "../../lib/bridge-keys.ts";
import { receiverEvents, receiverName, receiverTypes } from "../../lib/receivers.ts";
import { spokeIdentities } from "../../lib/spoke.ts";
import { example, hub, settings } from "../functions/spoke/support/fixtures.ts";
import { pgpKey, sshKey } from "../support/signers.ts";
import type { Variables } from "./support/flux.ts";
import type { Manifest } from "./support/kustomize.ts";
import { called, kustomizations, render, withAddons } from "./support/spoke.ts";

const spoke = example("minimal");
const chain = render(spoke);
const { steps } = chain;

const short = (name: string) => name.replace(`${spoke.metadata.name}-`, "");
const names = steps.map(({ metadata }) => short(metadata.name));
const dependencies = ({ spec }: Manifest): { name: string; readyExpr?: string }[] => spec.dependsOn ?? [];

/** Every step that must be gone before `name` may go: the policy deletion-order, applied until nothing changes. */
function goneBefore(name: string): string[] {
  const direct = steps.filter((step) => dependencies(step).some((dependency) => short(dependency.name) === name));
  return [...new Set(direct.flatMap(({ metadata }) => [short(metadata.name), ...goneBefore(short(metadata.name))]))];
}

describe("the bootstrap chain", () => {
  test("is of steps that prune, wait, retry soon, and remove what they made before they go", () => {
    for (const { metadata, spec } of steps)
      expect(spec, metadata.name).toMatchObject({
        prune: true,
        wait: short(metadata.name) !== "workloads",
        // The Spoke looks every 15 s: a spoke that is not reached, or a source that can't be fetched, must stay failed for longer.
        retryInterval: ["base", "sync"].includes(short(metadata.name)) ? "30s" : "5s",
        timeout: expect.stringMatching(/^\d+[mh]$/),
        deletionPolicy: "WaitForTermination",
        commonMetadata: { labels: { "fleet.internal/cluster": spoke.metadata.name } },
      });
  });

  test("brings secrets up in order: External Secrets, the keys, Sealed Secrets, the deploy keys, then the repositories", () => {
    const waits = (step: string) =>
      dependencies(steps[names.indexOf(step)] as Manifest)
        .filter(({ readyExpr }) => readyExpr === undefined)
        .map(({ name }) => short(name));
    expect(waits("sealing-keys")).toEqual(["external-secrets"]);
    expect(waits("sealed-secrets")).toEqual(["sealing-keys"]);
    expect(waits("secrets")).toEqual(["sealed-secrets"]);
    expect(waits("sync")).toEqual(["flux", "secrets"]);
    expect(waits("tools")).toEqual(["sync"]);
    expect(waits("workloads")).toEqual(["tools"]);
  });

  test("gives claims without a class an encrypted gp3 volume in the zone of their pod", () => {
    const classes = chain.by(`${spoke.metadata.name}-base`).filter(({ kind }) => kind === "StorageClass");
    expect(classes).toEqual([
      expect.objectContaining({
        metadata: expect.objectContaining({
          annotations: expect.objectContaining({ "storageclass.kubernetes.io/is-default-class": "true" }),
        }),
        provisioner: "ebs.csi.aws.com",
        parameters: { type: "gp3", encrypted: "true", kmsKeyId: "" },
        volumeBindingMode: "WaitForFirstConsumer",
      }),
    ]);
  });

  test("encrypts these volumes with the Spoke's own key, with which Flux makes the class again", () => {
    const volumeKey = "arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    const places = { ...hub.spokePlaces, [hub.aws.accountId]: { regions: ["us-east-1"], volumeKeys: [volumeKey] } };
    const own = render({ ...spoke, spec: { ...spoke.spec, volumeKey } }, { hub: { ...hub, spokePlaces: places } });
    const [found] = own.by(`${spoke.metadata.name}-base`).filter(({ kind }) => kind === "StorageClass");
    expect(found?.["parameters"]).toEqual({ type: "gp3", encrypted: "true", kmsKeyId: volumeKey });
    expect(found?.metadata.annotations).toMatchObject({ "kustomize.toolkit.fluxcd.io/force": "Enabled" });
  });

  test("is removed from the applications back: they, the tools, Flux, Sealed Secrets, External Secrets, the namespaces", () => {
    expect(goneBefore("workloads")).toEqual([]);
    expect(goneBefore("tools")).toEqual(["workloads"]);
    expect(goneBefore("flux")).toEqual(expect.arrayContaining(["workloads", "tools", "sync"]));
    expect(goneBefore("sealed-secrets")).toEqual(expect.arrayContaining(["flux", "secrets"]));
    expect(goneBefore("external-secrets")).toEqual(expect.arrayContaining(["sealed-secrets", "sealing-keys"]));
    expect(goneBefore("base").sort()).toEqual(names.filter((name) => name !== "base").sort());
  });

  test("lets a removal of applications take as long as AWS takes", () => {
    expect(steps[names.indexOf("workloads")]?.spec.timeout).toBe("24h");
    expect(chain.by(`${spoke.metadata.name}-workloads`)[0]?.spec).toMatchObject({
      deletionPolicy: "WaitForTermination",
      timeout: "24h",
      wait: false,
    });
  });

  test("reaches the spoke as an IAM role, in every step and release", () => {
    const acting = chain.applied
      .filter(({ on }) => on === "hub")
      .flatMap(({ objects }) => objects)
      .filter(({ metadata }) => metadata.labels?.["fleet.internal/target"] === "spoke");
    expect(acting.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["Kustomization", "HelmRelease"]));
    for (const { metadata, spec } of acting)
      expect(spec.kubeConfig, metadata.name).toEqual({
        configMapRef: { name: `${spoke.metadata.name}-kubeconfig` },
      });
  });

  test("puts only Flux objects on the hub, in the namespace of the spokes", () => {
    for (const { on, objects } of chain.applied)
      for (const { kind, metadata } of on === "hub" ? objects : []) {
        expect(["Kustomization", "HelmRelease"], metadata.name).toContain(kind);
        expect(metadata.namespace).toBe("spokes");
        expect(metadata.name).toMatch(new RegExp(`^${spoke.metadata.name}-`));
      }
  });

  test("takes the connection Secret in every step and release where the Composition says so", () => {
    const variant = render(spoke, { settings: settings({ kubeConfig: "secret" }) });
    const found = JSON.stringify(variant.applied);
    expect(found).not.toContain("configMapRef");
    expect(found.match(/"secretRef":\{"name":"blue-kubeconfig","key":"kubeconfig"\}/g)).toHaveLength(
      JSON.stringify(chain.applied).match(/"configMapRef"/g)?.length ?? 0,
    );
  });

  test("follows the GitRepository of the stage in every step but the spoke's own secrets", () => {
    const staged = render(spoke, { settings: settings({ stages: { dev: { gitRepository: "gitops-system-dev" } } }) });
    for (const { metadata, spec } of staged.steps)
      expect(spec.sourceRef, metadata.name).toEqual(
        short(metadata.name) === "secrets"
          ? { kind: "ExternalArtifact", name: "spoke-blue", namespace: "flux-system" }
          : { kind: "GitRepository", name: "gitops-system-dev", namespace: "flux-system" },
      );
    for (const { metadata, spec } of chain.steps)
      expect(spec.sourceRef, metadata.name).toEqual({
        kind: "ExternalArtifact",
        name: short(metadata.name) === "secrets" ? "spoke-blue" : "bootstrap-chain",
        namespace: "flux-system",
      });
  });

  test("of a ring reads the ring's branch on the spoke at once, and waits for the tools of the very revision", () => {
    const revision = `ring/early@sha1:${"a".repeat(40)}`;
    const chainStatus = { lastAttemptedRevision: revision, lastAppliedRevision: revision };
    const { bridge, by, steps } = render({ ...spoke, spec: { ...spoke.spec, ring: "early" } }, { chainStatus });
    expect(bridge["gitops_system_repo_revision"]).toBe("ring/early");
    const step = (name: string) => steps.find(({ metadata }) => short(metadata.name) === name)?.spec;
    expect(step("tools").sourceRef).toMatchObject({ kind: "GitRepository", name: "gitops-system-ring-early" });
    const tools = by("blue-tools").find(({ metadata }) => metadata.name === "tools");
    for (const [{ healthCheckExprs }, source] of [
      [step("tools"), "gitops-system"],
      [tools?.spec, "gitops-system"],
    ] as const) {
      expect(healthCheckExprs[0].current).toContain(`spec.sourceRef.name != '${source}'`);
      expect(healthCheckExprs[0].current).toContain(`status.lastAppliedRevision == '${revision}'`);
    }
    const [source] = by("blue-sync").filter(({ metadata }) => metadata.name === "gitops-system");
    expect(source).toMatchObject({
      kind: "GitRepository",
      metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": revision } },
      spec: { ref: { branch: "ring/early" } },
    });
    const [workloads] = by("blue-sync").filter(({ metadata }) => metadata.name === "gitops-workloads");
    expect(workloads?.metadata).not.toHaveProperty("annotations");
  });

  const sources = ({ by }: typeof chain) => by("blue-sync").filter(({ kind }) => kind === "GitRepository");
  const receivers = ({ by }: typeof chain) => by("blue-sync").filter(({ kind }) => kind === "Receiver");

  test("has the spoke look for commits every minute where nobody calls it", () => {
    expect(receivers(chain)).toEqual([]);
    expect(sources(chain).map(({ metadata, spec }) => [metadata.name, spec.interval])).toEqual([
      ["gitops-system", "1m"],
      ["gitops-workloads", "1m"],
    ]);
  });

  test.each(receiverTypes)("has a spoke whose Git host calls it as %s told of its own repositories", (type) => {
    const told = render(called(spoke, type));
    const [receiver, ...others] = receivers(told);
    expect(others).toEqual([]);
    expect(receiver?.metadata).toMatchObject({ name: receiverName, namespace: "flux-system" });
    expect(receiver?.spec).toMatchObject({ type, events: receiverEvents[type], secretRef: { name: receiverName } });
    const [{ matchLabels, ...selected }] = (receiver as Manifest).spec.resources;
    // Without a namespace: Flux on a spoke refuses references to another one.
    expect(selected).toEqual({ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository", name: "*" });
    for (const { metadata, spec } of sources(told)) {
      expect(metadata.labels, metadata.name).toMatchObject(matchLabels);
      expect(spec.interval, metadata.name).toBe("10m");
    }
    const step = told.steps.find(({ metadata }) => metadata.name === "blue-sync")?.spec;
    expect(step?.postBuild.substituteFrom).toEqual([{ kind: "Secret", name: "cluster-blue" }]);
    // The chain of a ring that was rolled back to before has no such component.
    expect(step).toMatchObject({ components: ["receiver"] });
  });

  test("of a ring is told, too, and keeps what it follows", () => {
    const revision = `ring/early@sha1:${"a".repeat(40)}`;
    const chainStatus = { lastAttemptedRevision: revision, lastAppliedRevision: revision };
    const told = render(called({ ...spoke, spec: { ...spoke.spec, ring: "early" } }, "github"), { chainStatus });
    expect(receivers(told)).toHaveLength(1);
    expect(sources(told)[0]).toMatchObject({
      metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": revision } },
      spec: { interval: "10m", ref: { branch: "ring/early" } },
    });
  });

  describe("whose commits are verified", () => {
    const signed = {
      hub: { ...hub, signers: { gitopsSystem: { "alice.asc": pgpKey }, gitopsWorkloads: { "bob.sshpub": sshKey } } },
    };
    const verify = ({ by }: typeof chain) =>
      Object.fromEntries(
        by("blue-sync")
          .filter(({ kind }) => kind === "GitRepository")
          .map(({ metadata, spec }) => [metadata.name, spec.verify]),
      );
    const keys = ({ by }: typeof chain) =>
      Object.fromEntries(
        by("blue-sync")
          .filter(({ kind }) => kind === "Secret")
          .map(({ metadata, data }) => [`${metadata.namespace}/${metadata.name}`, fromBase64(data as Variables)]),
      );
    const by = (name: string) => ({ mode: "HEAD", secretRef: { name } });

    test("reads of each repository what its own signers signed", () => {
      const verified = render(spoke, signed);
      expect(verify(verified)).toEqual({
        "gitops-system": by("gitops-system-signers"),
        "gitops-workloads": by("gitops-workloads-signers"),
      });
      expect(keys(verified)).toEqual({
        "flux-system/gitops-system-signers": { "alice.asc": pgpKey },
        "flux-system/gitops-workloads-signers": { "bob.sshpub": sshKey },
      });
    });

    test("reads a repository that has no signers whoever signed it, and by default both", () => {
      const one = render(spoke, { hub: { ...hub, signers: { ...signed.hub.signers, gitopsSystem: {} } } });
      expect(verify(one)).toEqual({ "gitops-system": undefined, "gitops-workloads": by("gitops-workloads-signers") });
      expect(verify(chain)).toEqual({ "gitops-system": undefined, "gitops-workloads": undefined });
      expect(keys(chain)).toEqual({});
    });

    test("is verified in a ring, with a Receiver, too", () => {
      const revision = `ring/early@sha1:${"a".repeat(40)}`;
      const chainStatus = { lastAttemptedRevision: revision, lastAppliedRevision: revision };
      const told = render(called({ ...spoke, spec: { ...spoke.spec, ring: "early" } }, "github"), {
        ...signed,
        chainStatus,
      });
      expect(verify(told)["gitops-system"]).toEqual(by("gitops-system-signers"));
      expect(receivers(told)).toHaveLength(1);
      expect(sources(told)[0]).toMatchObject({
        metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": revision } },
        spec: { interval: "10m" },
      });
    });
  });

  test("installs charts in versions that the local mirror has", () => {
    const charts = chain.applied
      .flatMap(({ objects }) => objects)
      .filter(({ kind }) => kind === "HelmRelease")
      .map(({ spec }) => [spec.chart.spec.chart, spec.chart.spec.version]);
    expect(Object.fromEntries(charts)).toEqual(chartVersions);
  });

  const release = (name: string): Manifest["spec"] => {
    const found = chain.applied
      .flatMap(({ objects }) => objects)
      .find(({ kind, metadata }) => kind === "HelmRelease" && metadata.name === `${spoke.metadata.name}-${name}`);
    expect(found, name).toBeDefined();
    return found?.spec;
  };

  test("installs the kinds of External Secrets and Flux, and keeps them when the release goes", () => {
    for (const name of ["external-secrets", "flux"])
      expect(release(name).values, name).toMatchObject({
        installCRDs: true,
        crds: { annotations: { "helm.sh/resource-policy": "keep" } },
      });
  });

  test("runs no controller that nothing on a spoke uses", () => {
    const off = { create: false };
    expect(release("external-secrets").values).toMatchObject({ webhook: off, certController: off });
    expect(release("flux").values).toMatchObject({ imageAutomationController: off, imageReflectionController: off });
  });

  test("has the spoke's Flux look again soon for what it waits for", () => {
    const { sourceController, kustomizeController, helmController } = release("flux").values;
    const soon = (delay: string) => ["--requeue-dependency=2s", `--max-retry-delay=${delay}`];
    expect(sourceController.container.additionalArgs).toEqual(soon("30s"));
    expect(helmController.container.additionalArgs).toEqual(expect.arrayContaining(soon("30s")));
    expect(kustomizeController.container.additionalArgs).toEqual(
      expect.arrayContaining([...soon("5s"), "--concurrent=20"]),
    );
  });

  test("keeps tenants apart in the spoke's Flux: no reference to another namespace, no rights by default, no remote bases", () => {
    const { multitenancy, kustomizeController, helmController } = release("flux").values;
    expect(multitenancy).toEqual({ enabled: true, defaultServiceAccount: "default", privileged: true });
    expect(kustomizeController.container.additionalArgs).toContain("--no-remote-bases=true");
    for (const { container } of [kustomizeController, helmController]) {
      const [gates] = container.additionalArgs.filter((flag: string) => flag.startsWith("--feature-gates="));
      expect(container.additionalArgs).toContain("--default-kubeconfig-service-account=default");
      // Without the gate the controllers exit (fluxcd/pkg/auth, controller_options.go).
      expect(gates).toContain("ObjectLevelWorkloadIdentity=true");
    }
  });

  test("has the images of Flux's controllers that the hub has, which the pinned chart lacks", () => {
    const { chart, ...tags } = fluxTags;
    const { kustomizeController, helmController } = release("flux").values;
    expect([kustomizeController.tag, helmController.tag]).toEqual(Object.values(tags));
    for (const [name, tag] of Object.entries(tags))
      expect(Object.values(imageReferences)).toContain(`ghcr.io/fluxcd/${name}:${tag}`);
    expect(chartVersions.flux2, "a newer chart has newer images: remove fluxTags").toBe(chart);
  });

  test("has External Secrets work for no store and no secret across namespaces, and push nothing", () => {
    const { values } = release("external-secrets");
    const processed = Object.entries(values).filter(([key]) => key.startsWith("process"));
    expect(Object.fromEntries(processed)).toEqual({
      processClusterExternalSecret: false,
      processClusterStore: false,
      processClusterPushSecret: false,
      processClusterGenerator: false,
      processPushSecret: false,
    });
  });

  test("has Sealed Secrets make no key of its own, and take new generations without a restart", () => {
    expect(release("sealed-secrets").values).toMatchObject({ keyrenewperiod: "0", watchForSecrets: true });
  });

  test("names Sealed Secrets as kubeseal looks for it", () => {
    expect(release("sealed-secrets").values.fullnameOverride).toBe("sealed-secrets-controller");
  });

  test("has the nodes set room aside for External Secrets and Sealed Secrets", () => {
    for (const name of ["external-secrets", "sealed-secrets"])
      expect(release(name).values.resources, name).toEqual({
        requests: { cpu: "10m", memory: expect.stringMatching(/^\d+Mi$/) },
        limits: { memory: expect.stringMatching(/^\d+Mi$/) },
      });
  });

  test("reads the sealing keys of the spoke's own environment only", () => {
    const prod = render(withAddons("production", []));
    for (const [rendered, scope] of [
      [chain, "dev"],
      [prod, "prod"],
    ] as const) {
      const keys = rendered.by(`${rendered.spoke.metadata.name}-sealing-keys`);
      const secrets = keys.filter(({ kind }) => kind === "ExternalSecret");
      expect(secrets.length).toBeGreaterThan(0);
      for (const { spec } of secrets) {
        expect(spec.dataFrom[0].extract.key).toMatch(new RegExp(`^fleet/sealing-keys/${scope}/`));
        expect(spec.target.template.metadata.labels).toEqual({
          "sealedsecrets.bitnami.com/sealed-secrets-key": "active",
        });
      }
      expect(keys.find(({ kind }) => kind === "ServiceAccount")?.metadata).toMatchObject({
        namespace: spokeIdentities.external_secrets.namespace,
        name: spokeIdentities.external_secrets.serviceAccount,
      });
    }
  });

  test("reads sealing keys of a spoke's own from its folder, under names that no other scope's have", () => {
    const own = render({ ...spoke, spec: { ...spoke.spec, sealing: "cluster" } });
    const name = spoke.metadata.name;
    expect(own.steps.find(({ metadata }) => metadata.name === `${name}-sealing-keys`)?.spec).toMatchObject({
      path: `./spokes/fleet/${name}/sealing-keys`,
      sourceRef: { kind: "ExternalArtifact", name: "spoke-blue", namespace: "flux-system" },
    });
    const keys = own.by(`${name}-sealing-keys`);
    const [secret] = keys.filter(({ kind }) => kind === "ExternalSecret");
    expect(secret?.spec.dataFrom).toEqual([{ extract: { key: `fleet/sealing-keys/cluster-${name}/1` } }]);
    // Sealed Secrets takes up a key by the name of a new Secret: the same name would leave it with the old key.
    const ofEnvironment = chain.by(`${name}-sealing-keys`).map(({ spec }) => spec?.target?.name);
    expect(ofEnvironment).not.toContain(secret?.spec.target.name);
    expect(secret?.spec.target.template).toEqual(
      chain.by(`${name}-sealing-keys`).find(({ kind }) => kind === "ExternalSecret")?.spec.target.template,
    );
    expect(keys.filter(({ kind }) => kind !== "ExternalSecret")).toEqual(
      chain.by(`${name}-sealing-keys`).filter(({ kind }) => kind !== "ExternalSecret"),
    );
  });

  test("tells the spoke everything that the hub knows of it, in the same words, but what only the hub uses", () => {
    const info = chain.by("blue-sync").find(({ metadata }) => metadata.name === "cluster-info")?.["data"] as Record<
      string,
      string
    >;
    const trimmed = Object.entries(info).map(([key, value]) => [key, value.trimEnd()]);
    const own = Object.values(bridgeKeys).flatMap(({ key, forHub }) => (forHub ? [key] : []));
    const told = Object.entries(chain.bridge).filter(([key]) => !own.includes(key));
    expect(Object.fromEntries(trimmed)).toEqual(Object.fromEntries(told));
    const keys = Object.keys(bridgeKeys).filter((key) => !own.includes(key));
    expect(Object.keys(info)).toEqual(expect.arrayContaining(keys));
  });

  test("gives the spoke's Flux objects an identity: without one they would have no rights", () => {
    const own = chain.applied.filter(({ on }) => on === "spoke").flatMap(({ objects }) => objects);
    const acting = own.filter(
      ({ kind, metadata }) => ["HelmRelease", "Kustomization"].includes(kind) && metadata.namespace === "flux-system",
    );
    expect(kustomizations(acting).length).toBeGreaterThan(0);
    const identityOf = ({ kind, metadata }: Manifest) =>
      kind === "HelmRelease" ? "helm-controller" : metadata.name === "workloads" ? "workloads" : "kustomize-controller";
    for (const each of acting) expect(each.spec.serviceAccountName, each.metadata.name).toBe(identityOf(each));
  });
});
