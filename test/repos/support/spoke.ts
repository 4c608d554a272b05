import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyFiles } from "../../../cli/sealing/keys-folder.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import type { ReceiverType } from "../../../lib/receivers.ts";
import { credentialVariables, type RegistryCredentials, registrySecrets } from "../../../lib/registries.ts";
import { fillTemplate } from "../../../lib/template.ts";
import { example } from "../../functions/spoke/support/fixtures.ts";
import { settled, type WorldOptions } from "../../functions/spoke/support/world.ts";
import { substituted, type Variables } from "./flux.ts";
import { build, files, generated, type Manifest, type Patch, patched } from "./kustomize.ts";

/** Everything that Flux, on the hub and on the spoke, makes of the repositories for one Spoke: without a cluster. */

export const repos = join(import.meta.dirname, "..", "..", "..", "repos");
export const system = join(repos, "gitops-system");
const workloads = join(repos, "gitops-workloads");

/** An example of the function with these add-ons in place of its own. */
export function withAddons(name: string, addons: readonly string[]): Spoke {
  const spoke = example(name);
  return { ...spoke, spec: { ...spoke.spec, addons } };
}

interface Applied {
  /** Name of the Flux Kustomization. */
  readonly by: string;
  /** Cluster that the objects are on. */
  readonly on: "hub" | "spoke";
  readonly objects: readonly Manifest[];
}

const isKustomization = ({ apiVersion }: Manifest) => apiVersion.startsWith("kustomize.toolkit.fluxcd.io/");
export const kustomizations = (objects: readonly Manifest[]): Manifest[] => objects.filter(isKustomization);

/** A SealedSecret as kubeseal writes it; what it holds is none of the tests' business. */
export const sealed = (name: string, namespace: string) => `apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  encryptedData:
    identity: AgA=
  template:
    metadata:
      name: ${name}
      namespace: ${namespace}
`;

/** What `use` makes of a template with its placeholders filled in and more files beside them. */
export function instantiated<T>(
  template: string,
  values: Variables,
  more: Readonly<Record<string, string>>,
  use: (folder: string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), "fleet-template-"));
  try {
    cpSync(template, folder, { recursive: true });
    for (const file of files(folder)) writeFileSync(file, fillTemplate(readFileSync(file, "utf8"), values));
    for (const [name, text] of Object.entries(more)) writeFileSync(join(folder, name), text);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const app = {
  app: "payment-app",
  tenant: "payments",
  repositoryUrl: "ssh://git@git.fleet.internal:2222/payment-app-manifests.git",
  provider: "generic",
  revision: "main",
} as const;

/** The folder of the demo's application in gitops-workloads. */
const inAppFolder = <T>(environment: string, use: (folder: string) => T): T =>
  instantiated(
    join(workloads, "templates", "app"),
    { ...app, path: `./overlays/${environment}` },
    { "credential.yaml": sealed(`${app.app}-git`, app.app) },
    use,
  );

/** The folder of a spoke's SealedSecrets. */
const inSecretsFolder = <T>(use: (folder: string) => T): T =>
  instantiated(
    join(system, "templates", "spoke", "secrets"),
    {},
    Object.fromEntries(
      ["gitops-system", "gitops-workloads"].map((name) => [`${name}.yaml`, sealed(name, "flux-system")]),
    ),
    use,
  );

/** A Spoke whose Git host calls it. */
export const called = (spoke: Spoke, gitReceiver: ReceiverType): Spoke => ({
  ...spoke,
  spec: { ...spoke.spec, gitReceiver },
});

/** The folder of sealing keys of a spoke's own, at the place where it finds the store. */
function inKeysFolder<T>(use: (folder: string) => T): T {
  const base = mkdtempSync(join(tmpdir(), "fleet-sealing-keys-"));
  const folder = join(base, "spokes", "fleet", "own", "sealing-keys");
  try {
    cpSync(join(system, "spoke-bootstrap"), join(base, "spoke-bootstrap"), { recursive: true });
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(keyFiles(["1"]))) writeFileSync(join(folder, name), text);
    return use(folder);
  } finally {
    rmSync(base, { recursive: true });
  }
}

function configMap(objects: readonly Manifest[], name: string): Variables {
  const found = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name);
  if (!found) throw new Error(`there is no ConfigMap ${name}`);
  return found["data"] as Variables;
}

interface Source {
  readonly folder: string;
  readonly values: Variables;
  readonly components?: readonly string[];
  readonly patches?: readonly Patch[];
}

const make = ({ folder, values, components, patches = [] }: Source): Manifest[] =>
  patches
    .reduce<Manifest[]>(
      (all, patch) => patched(all, patch),
      components?.length ? build(folder, components) : generated(folder),
    )
    .map((manifest) => substituted(manifest, values));

/** What the stack of the tests' fleet gives for its mirrors. */
export const credentials: RegistryCredentials = {
  pullSecret: '{"auths":{"registry.example":{"username":"fleet","password":"t0ps3cret"}}}',
  chartsUsername: "fleet",
  chartsPassword: "t0ps3cret",
};

/**
 * What a Flux Kustomization substitutes from the values of its ConfigMap or Secret, from the credentials if it names them, from ConfigMaps
 * that are applied beside it, and its own.
 */
const valuesOf = ({ spec }: Manifest, from: Variables, beside: readonly Manifest[] = []): Variables => {
  const sources = (spec.postBuild?.substituteFrom ?? []) as { name: string }[];
  const named = sources.some(({ name }) => name === registrySecrets.variables);
  const values = sources.flatMap(({ name }) =>
    beside.filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name).map(({ data }) => data),
  );
  return Object.assign(
    { ...from, ...(named ? credentialVariables(credentials) : {}) },
    ...values,
    spec.postBuild?.substitute,
  );
};

const named = (steps: readonly Manifest[], name: string): Manifest => {
  const found = steps.find(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`there is no Kustomization ${name}`);
  return found;
};

export interface Rendered {
  readonly spoke: Spoke;
  readonly bridge: Variables;
  /** The Kustomizations of the chain, in spokes on the hub. */
  readonly steps: readonly Manifest[];
  readonly applied: readonly Applied[];
  /** What the Kustomization of that name applies. */
  readonly by: (name: string) => readonly Manifest[];
}

/** Follows every Flux Kustomization from `<spoke>-bootstrap` to the application. */
export function render(spoke: Spoke, options: WorldOptions = {}): Rendered {
  const world = settled(spoke, options);
  const bridge = fromBase64(world.object("cluster-secret").data ?? {});
  const bootstrap = world.object("bootstrap").spec as { path: string; patches?: Patch[] };
  const name = spoke.metadata.name;
  const applied: Applied[] = [];
  const apply = (by: string, on: Applied["on"], source: Source): readonly Manifest[] => {
    const objects = make(source);
    applied.push({ by, on, objects });
    return objects;
  };

  const steps = apply(`${name}-bootstrap`, "hub", {
    folder: join(system, bootstrap.path),
    values: bridge,
    ...(bootstrap.patches ? { patches: bootstrap.patches } : {}),
  });
  for (const step of kustomizations(steps)) {
    const from = (folder: string) =>
      apply(step.metadata.name, step.spec.kubeConfig ? "spoke" : "hub", {
        folder,
        values: valuesOf(step, bridge),
        components: step.spec.components ?? [],
        patches: step.spec.patches ?? [],
      });
    if (step.spec.path === `./spokes/${bridge["fleet"]}/${name}/secrets`) inSecretsFolder(from);
    else if (step.spec.path === `./spokes/${bridge["fleet"]}/${name}/sealing-keys`) inKeysFolder(from);
    else from(join(system, step.spec.path));
  }
  const by = (step: string) => applied.find((each) => each.by === step)?.objects ?? [];

  const synced = by(`${name}-sync`);
  const info = { ...configMap(synced, "cluster-info"), ...configMap(synced, "addon-identities") };
  const follow = (
    step: Manifest,
    folder: string,
    components?: readonly string[],
    beside?: readonly Manifest[],
  ): void => {
    const objects = apply(step.metadata.name, "spoke", {
      folder,
      values: valuesOf(step, info, beside),
      ...(components ? { components } : {}),
    });
    for (const inner of kustomizations(objects))
      follow(inner, join(system, inner.spec.path), inner.spec.components, objects);
  };
  const tools = named(by(`${name}-tools`), "tools");
  follow(tools, join(system, tools.spec.path), tools.spec.components);

  const root = named(by(`${name}-workloads`), "workloads");
  const onboarded = inAppFolder(spoke.spec.environment, (folder) =>
    apply("workloads", "spoke", { folder, values: valuesOf(root, info) }),
  );
  const sync = named(kustomizations(onboarded), app.app);
  apply(app.app, "spoke", {
    folder: join(repos, "payment-app-manifests", sync.spec.path),
    values: configMap(onboarded, "cluster-info"),
  });
  return { spoke, bridge, steps: kustomizations(steps), applied, by };
}
