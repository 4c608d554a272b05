import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { expect } from "vitest";
import type { Report } from "../../../cli/check/check.ts";
import { variable } from "../../../cli/render/envsubst.ts";
import { filesBelow } from "../../../cli/render/files.ts";
import type { Rule } from "../../../cli/render/findings.ts";
import { fillTemplate } from "../../../lib/template.ts";
import { repos } from "../../repos/support/spoke.ts";

/** Faults to put into a copy of repos/, each with the one finding that is expected of it. */

export interface Change {
  readonly file: string;
  /** What is replaced; the whole file, or a new one, where there is none. */
  readonly from?: string | RegExp;
  readonly to: string;
}

export interface Seed {
  readonly fault: string;
  readonly changes: readonly Change[];
  readonly rule: Rule;
  readonly file: string;
  /** A part of the line that the finding names. */
  readonly on: string;
  /** What is wrong, exactly. */
  readonly problem: string;
  readonly clusters: readonly string[];
  /** Whether only CustomResourceDefinitions can tell. */
  readonly needsDefinitions?: true;
  /** Whether it hides or changes what other faults show: nothing is looked at behind what can't be built. */
  readonly alone?: true;
}

type SeedFields = Pick<Seed, "on" | "problem" | "alone" | "needsDefinitions"> &
  Partial<Pick<Seed, "file" | "clusters">>;

const hub = "gitops-system/platform/hub";

/** A {@link Seed}: by default its finding is in the last changed file and on the hub. */
function seed(
  fault: string,
  rule: Rule,
  { changes, file, clusters = ["hub"], ...more }: SeedFields & { readonly changes: Change | readonly Change[] },
): Seed {
  const all = [changes].flat();
  return { fault, rule, changes: all, file: file ?? all.at(-1)?.file ?? "", clusters, ...more };
}

/** What the hub of a fleet applies. */
export const fleetFolder = (fleet: string): Change => ({
  file: `gitops-system/clusters/${fleet}/kustomization.yaml`,
  to: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ../../platform/hub\n",
});
const everywhere = ["check-dev", "check-prod"];

export const replaced = (file: string, from: string | RegExp, to: string): Change => ({ file, from, to });

/** A Spoke of its own. */
export const spoke = (name: string, cidr: string, fleet = "fleet"): Change[] => [
  fleetFolder(fleet),
  {
    file: `gitops-system/spokes/${fleet}/${name}/kustomization.yaml`,
    to: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - spoke.yaml\n",
  },
  {
    file: `gitops-system/spokes/${fleet}/${name}/flux/sync.yaml`,
    to: `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: spoke-${name}
  namespace: flux-system
spec:
  sourceRef:
    kind: ExternalArtifact
    name: spoke-${name}
  path: ./spokes/${fleet}/${name}
  interval: 30m
  prune: true
`,
  },
  {
    file: `gitops-system/spokes/${fleet}/${name}/spoke.yaml`,
    to: `apiVersion: fleet.internal/v1alpha1
kind: Spoke
metadata:
  name: ${name}
  namespace: spokes
  labels:
    fleet.internal/fleet: ${fleet}
spec:
  region: eu-west-1
  kubernetesVersion: "1.35"
  environment: dev
  network:
    cidr: ${cidr}
`,
  },
  ...["gitops-system", "gitops-workloads"].map((repository) => ({
    file: `gitops-system/spokes/${fleet}/${name}/secrets/${repository}.yaml`,
    to: `apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata:
  name: ${repository}
  namespace: flux-system
spec:
  encryptedData:
    identity: AgA=
`,
  })),
  {
    file: `gitops-system/spokes/${fleet}/${name}/secrets/kustomization.yaml`,
    to: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - gitops-system.yaml\n  - gitops-workloads.yaml\n",
  },
];

/** A Spoke over a cluster that Cluster API makes, with what templates/cluster-api has. */
export const clusterApiSpoke = (name: string, cidr: string, fleet = "fleet"): Change[] => {
  const template = join(repos, "gitops-system", "templates", "cluster-api");
  const values = { name, fleet, cidr, region: "eu-west-1", environment: "dev" };
  const folder = `gitops-system/spokes/${fleet}/${name}`;
  const own = spoke(name, cidr, fleet).map((change) =>
    change.file === `${folder}/spoke.yaml`
      ? { ...change, to: `${change.to}  existing:\n    madeBy: ClusterAPI\n` }
      : change,
  );
  const files = filesBelow(template).map((file) => ({
    file: join(folder, relative(template, file)),
    to: fillTemplate(readFileSync(file, "utf8"), values),
  }));
  return [...own, ...files];
};

const secret = `apiVersion: v1
kind: Secret
metadata:
  name: token
  namespace: spokes
stringData:
  token: hunter2
`;

const clusterInfo = "gitops-system/platform/cluster-info/cluster-info.yaml";
const queue = "payment-app-manifests/base/queue.yaml";
const namespaces = "gitops-system/platform/namespaces/kustomization.yaml";
const devVersions = "gitops-system/tools/dev/versions.yaml";
const bootstrap = "gitops-system/spoke-bootstrap/kustomization.yaml";
const patchesEnd = "      labelSelector: fleet.internal/source=stage\n";
const withPatch = (text: string): Change => replaced(bootstrap, patchesEnd, `${patchesEnd}${text}`);

/** The faults that the issue names. */
export const seeds: readonly Seed[] = [
  seed("a misspelt variable", "variable", {
    changes: replaced(clusterInfo, variable("aws_region"), variable("aws_regoin")),
    on: "aws_region:",
    problem: `${variable("aws_regoin")} is not emitted: Kustomization cluster-info has no aws_regoin from Secret flux-system/cluster-${variable("cluster_name")}`,
  }),
  seed("a misspelt variable in the chain, which reaches every spoke", "variable", {
    changes: replaced(
      "gitops-system/spoke-bootstrap/sync/sources.yaml",
      variable("gitops_system_repo_revision"),
      variable("gitops_system_revision"),
    ),
    on: "gitops_system_revision",
    problem: `${variable("gitops_system_revision")} is not emitted: Kustomization ${variable("cluster_name")}-sync has no gitops_system_revision from Secret spokes/cluster-${variable("cluster_name")}, spec.postBuild.substitute`,
    clusters: everywhere,
    // Beside spokes without a Receiver, whose step substitutes nothing else, the words are theirs.
    alone: true,
  }),
  seed("a variable that the tenant's copy of the facts lacks", "variable", {
    changes: replaced(queue, variable("aws_region"), variable("oidc_provider")),
    on: "oidc_provider",
    problem: `${variable("oidc_provider")} is not emitted: Kustomization payment-app has no oidc_provider from ConfigMap payment-app/cluster-info`,
    clusters: everywhere,
  }),
  seed("a cycle", "dependency", {
    changes: replaced(`${hub}/namespaces.yaml`, "spec:\n", "spec:\n  dependsOn:\n    - name: cluster-info\n"),
    on: "- name: cluster-info",
    problem:
      "Kustomizations wait for each other: cluster-info -> platform-policies -> platform-namespaces -> cluster-info",
  }),
  seed("a removed API version", "api-version", {
    changes: replaced(`${hub}/policies.yaml`, "kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2"),
    on: "v1beta2",
    problem: "kustomize.toolkit.fluxcd.io/v1beta2 Kustomization is removed in Flux 2.8",
  }),
  seed("a removed API version of Kubernetes", "api-version", {
    changes: replaced("payment-app-manifests/overlays/prod/disruption-budget.yaml", "policy/v1", "policy/v1beta1"),
    on: "policy/v1beta1",
    problem: "policy/v1beta1 PodDisruptionBudget is removed in Kubernetes 1.25",
    clusters: ["check-prod"],
  }),
  seed("an overlapping CIDR", "network", {
    changes: [...spoke("blue", "10.64.0.0/18"), ...spoke("green", "10.64.32.0/20")],
    file: "gitops-system/spokes/fleet/green/spoke.yaml",
    on: "cidr: 10.64.32.0/20",
    problem: "Spoke green: 10.64.32.0/20 overlaps 10.64.0.0/18 of Spoke blue",
    clusters: ["green"],
  }),
  seed("an unpinned chart", "pinned", {
    changes: replaced("gitops-system/spoke-bootstrap/flux/release.yaml", "version: 2.19.0", 'version: ">=2.19.0"'),
    on: ">=2.19.0",
    problem: `HelmRelease ${variable("cluster_name")}-flux: the chart flux2 is not pinned, got version ">=2.19.0"`,
  }),
  seed("a plain Secret that a cluster gets", "plain-secret", {
    changes: [
      { file: "gitops-system/platform/namespaces/token.yaml", to: secret },
      replaced(namespaces, "  - spokes.yaml", "  - spokes.yaml\n  - token.yaml"),
    ],
    file: "gitops-system/platform/namespaces/token.yaml",
    on: "kind: Secret",
    problem: "Secret token is here in plain text",
    clusters: [],
  }),
  seed("a Secret of variables whose values stand in Git", "plain-secret", {
    changes: [
      {
        file: "gitops-workloads/notes/key.yaml",
        to: `apiVersion: v1\nkind: Secret\nmetadata:\n  name: key\nstringData:\n  key: ${variable("api_key")}\n`,
      },
      {
        file: "gitops-workloads/notes/values.yaml",
        to: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: values\ndata:\n  api_key: t0ps3cret\n",
      },
    ],
    file: "gitops-workloads/notes/key.yaml",
    on: "kind: Secret",
    problem: "Secret key is here in plain text",
    clusters: [],
  }),
  seed("an Argo CD cluster secret with a token", "plain-secret", {
    changes: replaced(
      "gitops-workloads/templates/argocd/cluster/cluster.yaml",
      '{"tlsClientConfig":{"insecure":false}}',
      '{"bearerToken":"t0ps3cret","tlsClientConfig":{"insecure":false}}',
    ),
    on: "kind: Secret",
    problem: `Secret cluster-${variable("cluster_name")} is here in plain text`,
    clusters: [],
  }),
  seed("a plain Secret that nothing applies", "plain-secret", {
    changes: { file: "gitops-workloads/notes/token.yaml", to: secret },
    on: "kind: Secret",
    problem: "Secret token is here in plain text",
    clusters: [],
  }),
  seed("a missing path of a Kustomization", "path", {
    changes: replaced(`${hub}/policies.yaml`, "./platform/policies", "./platform/polices"),
    on: "./platform/polices",
    problem: "Kustomization platform-policies applies ./platform/polices, which gitops-system does not have",
    alone: true,
  }),
  seed("a missing file of a kustomization.yaml", "path", {
    changes: replaced("gitops-system/tools/base/kustomization.yaml", "crossplane.yaml", "crossplan.yaml"),
    on: "crossplan.yaml",
    problem: "the file crossplan.yaml does not exist",
    clusters: [],
    alone: true,
  }),
  seed("a patch file that does not exist", "patch", {
    changes: replaced("gitops-system/tools/prod/kustomization.yaml", "versions.yaml", "version.yaml"),
    on: "version.yaml",
    problem: "the patch version.yaml does not exist",
    clusters: [],
    alone: true,
  }),
  seed("a wrong path in a JSON patch, which kustomize refuses", "patch", {
    changes: [
      withPatch("  - path: steps/patches/extra.yaml\n    target:\n      kind: Kustomization\n"),
      {
        file: "gitops-system/spoke-bootstrap/steps/patches/extra.yaml",
        to: "- op: add\n  path: /spec/kubeConfg/name\n  value: x\n",
      },
    ],
    on: "/spec/kubeConfg/name",
    problem: "the patch finds nothing at /spec/kubeConfg/name",
    alone: true,
  }),
  seed("a wrong path in a JSON patch, which kustomize takes", "patch", {
    changes: [
      withPatch("  - path: steps/patches/extra.yaml\n    target:\n      kind: Kustomization\n"),
      {
        file: "gitops-system/spoke-bootstrap/steps/patches/extra.yaml",
        to: "- op: replace\n  path: /spec/timout\n  value: 1m\n",
      },
    ],
    on: "/spec/timout",
    problem: `the patch replaces /spec/timout, which Kustomization ${variable("cluster_name")}-access does not have: kustomize adds it instead`,
    clusters: [],
    alone: true,
  }),
  seed("a patch whose target selects nothing", "patch", {
    changes: replaced(
      bootstrap,
      "labelSelector: fleet.internal/source=stage",
      "labelSelector: fleet.internal/source=stag",
    ),
    on: "target:",
    problem:
      'the patch\'s target selects nothing: {"kind":"Kustomization","labelSelector":"fleet.internal/source=stag"}',
    clusters: [],
    alone: true,
  }),
  seed("a patch for an object that is not there", "patch", {
    changes: replaced("payment-app-manifests/overlays/prod/deployment.yaml", "name: payment-app", "name: payment-ap"),
    on: "name: payment-ap",
    problem: "the patch is of Deployment payment-ap, which is not there",
    clusters: ["check-prod"],
    alone: true,
  }),
];

/** Everything else that the compiler looks at. */
export const moreSeeds: readonly Seed[] = [
  seed("a number where text is wanted", "variable-type", {
    changes: replaced(
      clusterInfo,
      `${variable("quote")}${variable("aws_account_id")}${variable("quote")}`,
      `"${variable("aws_account_id")}"`,
    ),
    on: "aws_account_id:",
    problem: `ConfigMap cluster-info: ${variable("aws_account_id")} is of the wrong type here: data.aws_account_id must be string; got 12345678901`,
  }),
  seed("text where a list is wanted", "variable-type", {
    changes: replaced("gitops-system/spoke-bootstrap/tools/tools.yaml", variable("addons"), variable("sealing_scope")),
    on: "components:",
    problem: `Kustomization tools: ${variable("sealing_scope")} is of the wrong type here: spec.components must be array; got "dev"`,
    clusters: everywhere,
    alone: true,
  }),
  seed("what Flux can't substitute", "variable", {
    changes: replaced(clusterInfo, variable("aws_region"), variable("aws-region")),
    on: "aws_region:",
    problem: `Flux can't substitute this: "${variable("aws-region")}" has no closing brace where Flux expects it`,
    alone: true,
  }),
  seed("a variable where nothing is substituted", "variable", {
    changes: replaced(
      "gitops-system/platform/namespaces/spokes.yaml",
      "  labels:\n",
      `  labels:\n    of: ${variable("fleet")}\n`,
    ),
    on: "of:",
    problem: `${variable("fleet")} is applied as it stands: Kustomization platform-namespaces has no spec.postBuild.substituteFrom`,
  }),
  seed("a key that nobody uses or documents", "unused-key", {
    changes: replaced(
      "gitops-system/spoke-bootstrap/sync/cluster-info.yaml",
      "  tenant: ",
      `  owner: ${variable("tenant")}\n  tenant: `,
    ),
    on: "owner:",
    problem: "the key owner is neither used as a variable nor documented",
    clusters: everywhere,
  }),
  seed("a version that no tool uses", "unused-key", {
    changes: replaced(devVersions, "crossplane_version:", "gadget_version: 1.0.0\n      crossplane_version:"),
    on: "gadget_version",
    problem: "the key gadget_version is neither used as a variable nor documented",
    clusters: ["check-dev"],
  }),
  seed("a dependency on nothing", "dependency", {
    changes: replaced(`${hub}/policies.yaml`, "name: platform-namespaces", "name: platform-namespace"),
    on: "name: platform-namespace",
    problem: "Kustomization platform-policies depends on flux-system/platform-namespace, which does not exist there",
    alone: true,
  }),
  seed("kinds that are used before they are there", "definition-order", {
    changes: replaced(`${hub}/crossplane.yaml`, "  dependsOn:\n    - name: crossplane-packages\n", ""),
    on: "spec:",
    problem:
      "Kustomization crossplane-configs applies kinds of aws.m.upbound.io (ClusterProviderConfig default) without waiting for crossplane-packages, which installs them",
    alone: true,
  }),
  seed("kinds that nothing brings", "definition-order", {
    changes: replaced(queue, "sqs.aws.m.upbound.io", "sns.aws.m.upbound.io"),
    on: "apiVersion:",
    problem: "Queue events: nothing installs the kinds of sns.aws.m.upbound.io on the cluster",
    clusters: everywhere,
    alone: true,
  }),
  seed("a managed resource that is not activated", "definition-order", {
    changes: replaced(
      "gitops-system/tools/base/crossplane-packages/activation.yaml",
      "    - queues.sqs.aws.m.upbound.io\n",
      "",
    ),
    file: queue,
    on: "kind: Queue",
    problem: "Queue events: no ManagedResourceActivationPolicy of the cluster activates queues.sqs.aws.m.upbound.io",
    clusters: everywhere,
  }),
  seed("an image without a version", "pinned", {
    changes: replaced("payment-app-manifests/base/deployment.yaml", "podinfo:6.9.2", "podinfo"),
    on: "image:",
    problem: "Deployment payment-app: ghcr.io/stefanprodan/podinfo has neither a tag nor a digest",
    clusters: everywhere,
  }),
  seed("a chart that is not pinned, by way of a variable", "pinned", {
    changes: replaced(devVersions, "crossplane_version: 2.4.3", "crossplane_version: 2.x"),
    file: "gitops-system/tools/base/crossplane/release.yaml",
    on: variable("crossplane_version"),
    problem: 'HelmRelease crossplane: the chart crossplane is not pinned, got version "2.x"',
    clusters: ["check-dev"],
  }),
  seed("a source that nothing makes", "source", {
    changes: replaced(`${hub}/namespaces.yaml`, "    name: platform\n", "    name: platforms\n"),
    on: "name: platforms",
    problem:
      "Kustomization platform-namespaces takes ExternalArtifact flux-system/platforms, which nothing makes there",
    alone: true,
  }),
  seed("an artifact that lacks what its Kustomization reads", "path", {
    changes: replaced(
      `${hub}/artifacts.yaml`,
      `"@system/platform/deletion-order/"\n          to: "@artifact/platform/"\n        - from: "@system/platform/policies/"\n          to: "@artifact/platform/"\n---`,
      `"@system/platform/policies/"\n          to: "@artifact/platform/"\n---`,
    ),
    file: "gitops-system/spoke-bootstrap/base/kustomization.yaml",
    on: "../../platform/deletion-order",
    problem: "the file ../../platform/deletion-order does not exist",
    clusters: [],
    alone: true,
  }),
  seed("an artifact of a folder that is not there", "source", {
    changes: replaced(`${hub}/artifacts.yaml`, "@system/platform/namespaces/", "@system/platform/namespace/"),
    on: "@system/platform/namespace/",
    problem:
      "ArtifactGenerator platform copies platform/namespace, which is not there: no artifact of the generator would change any more",
    alone: true,
  }),
  seed("files that an artifact has in another place than the repository", "source", {
    changes: replaced(
      `${hub}/artifacts.yaml`,
      `        - from: "@system/platform/api/"\n          to: "@artifact/platform/"`,
      `        - from: "@system/platform/api/"\n          to: "@artifact/"`,
    ),
    on: "@system/platform/api/",
    problem:
      "ArtifactGenerator platform copies @system/platform/api/ to @artifact/, which is not where it is in the repository",
    alone: true,
  }),
  seed("a remote base", "source", {
    changes: replaced(namespaces, "  - spokes.yaml", "  - spokes.yaml\n  - https://github.com/org/repo//base?ref=main"),
    on: "https://",
    problem: "https://github.com/org/repo//base?ref=main is a remote base",
    clusters: [],
    alone: true,
  }),
  seed("a private key", "plain-secret", {
    changes: { file: "gitops-system/spokes/deploy-key", to: "-----BEGIN OPENSSH PRIVATE KEY-----\n" },
    on: "PRIVATE KEY",
    problem: "a private key or an access key is here in plain text",
    clusters: [],
  }),
  seed("broken YAML", "build", {
    changes: replaced("gitops-system/platform/namespaces/spokes.yaml", "metadata:", "metadata: ["),
    on: "name: spokes",
    problem: "this is not YAML: Implicit keys need to be on a single line at line 4, column 9:",
    clusters: [],
    alone: true,
  }),
  seed("a field that the Spoke API does not have, in the template", "schema", {
    changes: replaced(
      "gitops-system/templates/spoke/spoke.yaml",
      "  tenant: __tenant__",
      "  tenant: __tenant__\n  size: big",
    ),
    on: "size: big",
    problem: "Spoke check-dev: spec has the field size, which its definition does not have",
  }),
  seed("a field that a definition does not know", "schema", {
    changes: replaced(`${hub}/namespaces.yaml`, "  timeout:", "  timeOut:"),
    on: "timeOut",
    problem: "Kustomization platform-namespaces: spec has the field timeOut, which its definition does not have",
    needsDefinitions: true,
  }),
];

/** What several fleets in one repository can get wrong. */
export const fleetSeeds: readonly Seed[] = [
  seed("a team in a namespace that nobody makes", "team", {
    changes: [
      ...spoke("crowded", "10.94.0.0/18"),
      replaced(
        "gitops-system/spokes/fleet/crowded/spoke.yaml",
        "  network:",
        `  teams:
    - name: payments
      namespaces: [payment-ap]
      members: [{ role: "arn:aws:iam::111111111111:role/payers", access: edit }]
  network:`,
      ),
    ],
    on: "namespaces: [payment-ap]",
    problem:
      "Spoke crowded: the team payments has the namespace payment-ap, which gitops-workloads does not put on the cluster; it puts there none",
    clusters: ["crowded"],
  }),
  seed("a ring that the hub has nothing of", "ring", {
    changes: [
      fleetFolder("fleet"),
      { file: "gitops-system/clusters/fleet/rings.yaml", to: "rings:\n  - soak: 1h\n    name: forgotten\n" },
    ],
    on: "name: forgotten",
    problem:
      "the hub has no GitRepository gitops-system-ring-forgotten or no Kustomization ring-forgotten for the ring forgotten, so that its branch reaches nothing",
  }),
  seed("a spoke of a Composition that the hub does not apply", "source", {
    changes: [
      ...spoke("lonely", "10.95.0.0/18"),
      replaced(
        "gitops-system/spokes/fleet/lonely/spoke.yaml",
        "spec:\n",
        "spec:\n  crossplane:\n    compositionRef:\n      name: lost\n",
      ),
    ],
    on: "apiVersion:",
    problem: "Spoke lonely: the hub applies no Composition lost or no CompositeResourceDefinition for Spokes",
    alone: true,
  }),
  seed("a spoke of another fleet", "fleet", {
    changes: [
      ...spoke("copied", "10.96.0.0/18"),
      replaced("gitops-system/spokes/fleet/copied/spoke.yaml", "internal/fleet: fleet", "internal/fleet: fleet-prod"),
    ],
    on: "fleet.internal/fleet: fleet-prod",
    problem:
      "Spoke copied must have the label fleet.internal/fleet: fleet, the fleet of the hub that applies it; got fleet-prod",
  }),
  seed("a spoke that does not say of which fleet it is", "fleet", {
    changes: [
      ...spoke("silent", "10.97.0.0/18"),
      replaced("gitops-system/spokes/fleet/silent/spoke.yaml", "  labels:\n    fleet.internal/fleet: fleet\n", ""),
    ],
    on: "metadata:",
    problem:
      "Spoke silent must have the label fleet.internal/fleet: fleet, the fleet of the hub that applies it; got none",
  }),
  seed("a spoke with a Receiver but no token for it", "fleet", {
    changes: [
      ...spoke("tokenless", "10.99.0.0/18"),
      replaced("gitops-system/spokes/fleet/tokenless/spoke.yaml", "spec:\n", "spec:\n  gitReceiver: github\n"),
    ],
    on: "gitReceiver: github",
    problem:
      "Spoke tokenless has a gitReceiver, but its secrets have no SealedSecret git-receiver: the spoke's step sync would wait for the token",
    clusters: ["tokenless"],
  }),
  seed("a spoke that no Kustomization applies", "fleet", {
    changes: [...spoke("idle", "10.98.0.0/18").filter(({ file }) => !file.endsWith("sync.yaml"))],
    file: "gitops-system/spokes/fleet/idle/spoke.yaml",
    on: "apiVersion:",
    problem:
      "spokes/fleet/idle has no flux/sync.yaml, the Kustomization that applies the spoke: no hub reads the folder",
  }),
  seed("a folder whose name can't be that of a spoke", "fleet", {
    changes: [
      fleetFolder("fleet"),
      {
        file: "gitops-system/spokes/fleet/Green_2/spoke.yaml",
        to: "apiVersion: fleet.internal/v1alpha1\nkind: Spoke\n",
      },
    ],
    on: "apiVersion:",
    problem: "spokes/fleet/Green_2 can't be the folder of a spoke: no hub reads it",
  }),
  seed("spokes of a fleet without a hub", "fleet", {
    changes: { file: "gitops-system/spokes/orphans/README.md", to: "# Spokes\n" },
    on: "# Spokes",
    problem:
      "spokes/orphans belongs to a fleet without a hub: clusters/orphans does not exist, so no hub applies these spokes",
    clusters: [],
  }),
];

/** Whether the words are kustomize's own, or follow from them. */
export const kustomizeTells = ({ fault }: Seed): boolean =>
  ["a wrong path in a JSON patch, which kustomize refuses", "a patch for an object that is not there"].includes(fault);

/** A finding, with the line that it names. */
export interface Found {
  readonly rule: Rule;
  readonly file: string;
  readonly line: string;
  readonly problem: string;
  readonly clusters: readonly string[];
}

export const found = ({ findings }: Pick<Report, "findings">, folder: string): Found[] =>
  findings.map(({ rule, place, problem, clusters }) => ({
    ...{ rule, problem, clusters },
    file: relative(folder, place.file),
    line: readFileSync(place.file, "utf8").split("\n")[place.line - 1] ?? "",
  }));

/** What is expected of a fault, for toEqual. Other seeds may bring clusters of their own. */
export const expected = ({ rule, file, on, problem, clusters }: Seed) => ({
  ...{ rule, file, problem },
  line: expect.stringContaining(on),
  clusters: expect.arrayContaining([...clusters]),
});

const copies = new Map<string, string>();

/** Removes the copies that {@link withChanges} made; for `afterAll` of each file that calls it. */
export function removeCopies(): void {
  for (const folder of copies.values()) rmSync(folder, { recursive: true });
  copies.clear();
}

/** A copy of folders of repos/, made once for a file of tests. */
function copyOf(folders: readonly string[]): string {
  const key = folders.join();
  const before = copies.get(key);
  if (before !== undefined) return before;
  const folder = mkdtempSync(join(tmpdir(), "fleet-seed-"));
  copies.set(key, folder);
  for (const name of folders) cpSync(join(repos, name), join(folder, name), { recursive: true });
  return folder;
}

/** Makes a change, and gives what undoes it. */
function made(folder: string, { file, from, to }: Change): () => void {
  const path = join(folder, file);
  const newFolder = mkdirSync(dirname(path), { recursive: true });
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  if (from !== undefined && before === undefined) throw new Error(`${file} does not exist: the seed is out of date`);
  const after = from === undefined ? to : before?.replace(from, () => to);
  if (from !== undefined && after === before)
    throw new Error(`${file} has no ${String(from)}: the seed is out of date`);
  writeFileSync(path, after ?? "");
  return () => {
    if (before !== undefined) writeFileSync(path, before);
    else rmSync(newFolder ?? path, { recursive: true });
  };
}

/** What `use` makes of a copy of repos/, or of some folders in it, with changes. `use` leaves the copy as it is. */
export function withChanges<T>(changes: readonly Change[], use: (folder: string) => T, folders = [""]): T {
  const folder = copyOf(folders);
  const undo: (() => void)[] = [];
  try {
    for (const change of changes) undo.unshift(made(folder, change));
    return use(folder);
  } finally {
    for (const back of undo) back();
  }
}
