import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { PROVIDER_VERSIONS, packages } from "../../../crossplane/packages/index.ts";
import { providerPackages } from "../../../crossplane/packages/provider.ts";
import { crdName } from "../../../crossplane/provider-aws/kind.ts";
import { allKinds } from "../../../crossplane/provider-aws/kinds.ts";
import { imageConfigs } from "../../../gateway/eks/cluster-objects/packages.ts";
import { FUNCTION_REPOSITORY, managedKinds, packageYaml } from "../../../product.ts";
import { CHECKOUT, productPaths, stackFileName } from "../../../product-paths.ts";

const folder = join(productPaths.gitopsSystem, "platform", "crossplane", "packages");

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly package?: string;
    readonly activate?: readonly string[];
    readonly runtimeConfigRef?: object;
  };
}

const manifests = (file: string) =>
  parseAllDocuments(readFileSync(join(folder, file), "utf8")).map((document) => document.toJS() as Manifest);

interface Meta {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: object };
  readonly spec: { readonly dependsOn?: readonly object[]; readonly capabilities: readonly string[] };
}

describe("the packages", () => {
  test("of the family depend on the family's own, and start only the kinds that are activated", () => {
    const family = "xpkg.crossplane.io/crossplane-contrib/provider-family-aws";
    for (const { repository, version, objects } of providerPackages) {
      const { metadata, spec } = objects[0] as Meta;
      expect(spec.dependsOn).toEqual(repository === family ? [] : [{ provider: family, version: `>=${version}` }]);
      expect(spec.capabilities).toContain("SafeStart");
      expect(metadata.labels).toEqual({ "pkg.crossplane.io/provider-family": "provider-family-aws" });
    }
  });

  test("are made again when anything changes that their programs are made of", async () => {
    for (const { entry, sources } of new Map(packages.map((spec) => [spec.entry, spec])).values()) {
      const { metafile } = await build({
        entryPoints: [entry],
        absWorkingDir: CHECKOUT,
        bundle: true,
        packages: "external",
        platform: "node",
        write: false,
        metafile: true,
        format: "esm",
      });
      const unknown = Object.keys(metafile.inputs).filter(
        (input) => !sources.some((source) => input === source || input.startsWith(`${source}/`)),
      );
      expect(unknown, entry).toEqual([]);
    }
  });

  test("of one version have every kind once", () => {
    for (const version of PROVIDER_VERSIONS) {
      const objects = providerPackages.filter((each) => each.version === version).flatMap((each) => each.objects);
      const names = (objects as Manifest[])
        .filter(({ kind }) => kind === "CustomResourceDefinition")
        .map(({ metadata }) => metadata.name);
      expect(new Set(names).size).toBe(names.length);
      expect(names).toEqual(expect.arrayContaining(allKinds.map(crdName)));
    }
  });

  test("are streams of YAML documents with the metadata first", () => {
    const [first, ...rest] = parseAllDocuments(packageYaml(providerPackages[1]?.objects ?? []));
    expect(first?.toJS()).toMatchObject({ kind: "Provider" });
    expect(rest.length).toBeGreaterThan(0);
  });
});

describe("what Git installs on the hub", () => {
  const written = [...manifests("providers.yaml"), ...manifests("function.yaml")];
  /** As a hub whose stack says nothing of packages substitutes it. */
  const installed = written.map(({ spec, ...rest }) => ({
    ...rest,
    spec: {
      ...spec,
      package: spec.package
        ?.replace("$" + "{function_package}", FUNCTION_REPOSITORY)
        .replace("$" + "{function_digest:=}", "")
        .replace("$" + "{packages_prefix}", ""),
    },
  }));

  test("is in the local registry in exactly that version", () => {
    const made = packages.map(({ repository, version }) => `${repository}:${version}`);
    for (const { metadata, spec } of installed) expect(made, metadata.name).toContain(spec.package);
  });

  test("comes from upstream names that the instance rewrites to its registry", () => {
    const rules = imageConfigs() as unknown as {
      spec: { matchImages: { prefix: string }[]; rewriteImage: { prefix: string } };
    }[];
    for (const { spec } of installed) {
      const rule = rules.find(({ spec: { matchImages } }) =>
        matchImages.some(({ prefix }) => spec.package?.startsWith(`${prefix}/`)),
      );
      expect(rule?.spec.rewriteImage.prefix, spec.package).toMatch(/^registry\.fleet\.internal:5000\//);
    }
  });

  test("serves every kind that a Spoke is composed of, and activates no other", () => {
    const wanted = Object.entries(managedKinds).map(([kind, version]) => {
      const found = allKinds.find(
        (each) => each.kind === kind && version.startsWith(`${each.group}.aws.m.upbound.io/`),
      );
      return found ? crdName(found) : `${kind} is not served`;
    });
    const [policy] = manifests("activation.yaml");
    expect([...(policy?.spec.activate ?? [])].sort()).toEqual(wanted.sort());
  });

  test("runs each of the family under its own account, and is all of it, so that Crossplane installs nothing by itself", () => {
    const providers = installed.filter(({ kind }) => kind === "Provider");
    for (const { metadata, spec } of providers)
      expect(spec, metadata.name).toMatchObject({
        runtimeConfigRef: { name: metadata.name },
        skipDependencyResolution: true,
      });
    expect(providers.map(({ metadata }) => metadata.name)).toContain("provider-family-aws");
  });

  test("is pulled with the hub's pull secrets, every package", () => {
    for (const { metadata, spec } of written)
      expect(spec, metadata.name).toMatchObject({ packagePullSecrets: "$" + "{pull_secrets}" });
  });

  test("is on the local stack what a stack gets that names no function package", () => {
    const local = readFileSync(join(productPaths.stacks, stackFileName("local")), "utf8");
    expect(local).not.toContain("functionPackage");
  });
});

test("every version of the providers that a spoke's environment asks for can be had", () => {
  const names = readdirSync(join(productPaths.gitopsSystem, "tools"), { recursive: true, encoding: "utf8" });
  const texts = names
    .filter((name) => name.endsWith("versions.yaml"))
    .map((name) => readFileSync(join(productPaths.gitopsSystem, "tools", name), "utf8"));
  const asked = texts.flatMap((text) =>
    [...text.matchAll(/provider_aws_version: (\S+)/g)].map(([, version]) => version),
  );
  expect(asked.length).toBeGreaterThan(0);
  for (const version of asked) expect(PROVIDER_VERSIONS).toContain(version);
});
