import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { identityAnnotation } from "../../lib/labels.ts";
import { spokeIdentities } from "../../lib/spoke.ts";
import { documents } from "./support/kustomize.ts";
import { type Rendered, render, system, withAddons } from "./support/spoke.ts";

const dev = render(withAddons("minimal", []));
const prod = render(withAddons("production", ["metrics_server"]));

/** What versions.yaml of the environment says. */
const providerVersion = (environment: string): string => {
  const [patch] = documents(join(system, "tools", environment, "versions.yaml"));
  return patch?.spec.postBuild.substitute.provider_aws_version;
};

const packages = (rendered: Rendered) =>
  rendered
    .by("crossplane-packages")
    .filter(({ kind }) => kind === "Provider")
    .map(({ spec }) => spec.package as string);

describe("the tools of a spoke", () => {
  test("have the versions of its environment", () => {
    const versions = (rendered: Rendered) => new Set(packages(rendered).map((name) => name.split(":")[1]));
    expect([...versions(dev)]).toEqual([providerVersion("dev")]);
    expect([...versions(prod)]).toEqual([providerVersion("prod")]);
  });

  test("are the same kinds in every environment", () => {
    const unversioned = (rendered: Rendered) => packages(rendered).map((name) => name.split(":")[0]);
    expect(unversioned(dev)).toEqual(unversioned(prod));
  });

  test("contain the add-ons that the Spoke enables, and no other", () => {
    expect(dev.by("metrics-server")).toEqual([]);
    expect(prod.by("metrics-server").map(({ kind }) => kind)).toEqual(["Secret", "HelmRepository", "HelmRelease"]);
  });

  test("contain Kyverno with the policies after it, when the Spoke enables it", () => {
    const spoke = render(withAddons("minimal", ["kyverno"]));
    expect([...new Set(spoke.by("kyverno-namespace").map(({ kind }) => kind))]).toEqual([
      "Namespace",
      "ServiceAccount",
      "NetworkPolicy",
      "Secret",
    ]);
    expect(spoke.by("kyverno").map(({ kind }) => kind)).toEqual(["HelmRepository", "HelmRelease"]);
    expect(new Set(spoke.by("kyverno-policies").map(({ kind }) => kind))).toEqual(new Set(["ValidatingPolicy"]));
  });

  test("remove Kyverno's policies before Kyverno, and its namespace after it: the Jobs of its removal run there", () => {
    const spoke = render(withAddons("minimal", ["kyverno"]));
    const waitsFor = (name: string) =>
      spoke.by("tools").find(({ kind, metadata }) => kind === "Kustomization" && metadata.name === name)?.spec
        .dependsOn;
    expect(waitsFor("kyverno-policies")).toEqual([{ name: "kyverno" }]);
    expect(waitsFor("kyverno")).toEqual([{ name: "kyverno-namespace" }]);
  });

  test("refuse an add-on that the environment does not have", () => {
    expect(() => render(withAddons("minimal", ["unheard_of"]))).toThrow("unheard_of");
  });

  test("give every AWS provider a service account that the spoke's role trusts, but for that of the family, which calls nothing", () => {
    const { namespace, serviceAccount } = spokeIdentities.crossplane;
    const spoke = render(withAddons("production", ["rds_instances", "s3_buckets"]));
    const objects = ["crossplane-packages", "rds-instances", "s3-buckets"].flatMap(spoke.by);
    const named = (wanted: string, name: string) =>
      objects.find(({ kind, metadata }) => kind === wanted && metadata.name === name);
    const providers = objects.filter(({ kind }) => kind === "Provider");
    const names = providers.map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual([...serviceAccount, "provider-family-aws"]);
    for (const { metadata, spec } of providers) {
      const { name, annotations = {}, ...place } = named("ServiceAccount", metadata.name)?.metadata ?? {};
      expect([name, place]).toEqual([metadata.name, { namespace }]);
      expect(annotations["eks.amazonaws.com/role-arn"], name).toBe(
        name === "provider-family-aws" ? undefined : spoke.bridge["crossplane_iam_role_arn"],
      );
      const { template } =
        named("DeploymentRuntimeConfig", spec.runtimeConfigRef.name)?.spec.deploymentTemplate.spec ?? {};
      expect(template.spec.serviceAccountName).toBe(name);
      expect(template.spec.containers).toEqual([
        expect.objectContaining({ name: "package-runtime", args: ["--max-reconcile-rate=10"] }),
      ]);
      // Never an empty map, whatever the way: server-side apply of one is refused where it had a key.
      expect(template.metadata.annotations).toEqual({ [identityAnnotation]: "IRSA" });
    }
  });

  test("activate exactly the kinds that applications and their governance use", () => {
    const activated = dev.by("crossplane-packages").find(({ kind }) => kind === "ManagedResourceActivationPolicy");
    const used = [...dev.by("workloads"), ...dev.by("payment-app")]
      .filter(({ apiVersion, kind }) => /\.aws\.m\.upbound\.io\//.test(apiVersion) && kind !== "ProviderConfig")
      .map(({ apiVersion, kind }) => `${kind.toLowerCase().replace(/y$/, "ie")}s.${apiVersion.split("/")[0]}`);
    expect([...(activated?.spec.activate ?? [])].sort()).toEqual([...new Set(used)].sort());
  });

  test("leave no identity that reaches beyond a namespace", () => {
    const objects = dev.applied.flatMap(({ objects }) => objects);
    expect(objects.filter(({ kind }) => kind === "ClusterProviderConfig")).toEqual([]);
  });
});
