import type { Readable } from "../../infra/settings.ts";
import { digestOf, isEcr, withoutDigest } from "../../lib/registries.ts";
import { projectReferences } from "../upstream/project.ts";
import { collected, type Reference, title } from "../upstream/references.ts";
import { type Outcome, type ResolveOptions, resolve } from "../upstream/resolve.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

export interface ReferenceOptions extends ResolveOptions {
  /** Folder of the project. */
  readonly root: string;
}

/** On an embedded cloud only the charts are checked. */
const brought = note(
  "images, packages",
  "come with the embedded cloud, under their upstream names",
  "npm run check:upstream checks those of production",
);

/** Files that name things that no cluster fetches. */
const workflows = /^\.github\//;

/** The images of charts can't be checked in a mirror, because only the charts know their tags. */
const imagesOfCharts = ({ imagesRegistry }: Readable): Finding[] =>
  imagesRegistry
    ? [
        note(
          "images of charts",
          `in ${imagesRegistry} are not checked: only the charts know their tags`,
          "run the script of fleet mirror, which copies them (docs/guides/mirrors.md)",
        ),
      ]
    : [];

/** What the clusters of a stack fetch: charts (from the stack's mirror if it has one), images and Crossplane packages. */
export function fetched(references: readonly Reference[], { chartsRegistry }: Readable): Reference[] {
  const mentions = references.flatMap(({ origins, ...target }) => {
    if (target.kind !== "chart" && target.kind !== "image" && target.kind !== "package") return [];
    const from = target.kind === "chart" && chartsRegistry ? { ...target, repository: chartsRegistry } : target;
    return origins.filter((origin) => !workflows.test(origin)).map((origin) => ({ target: from, origin }));
  });
  return collected(mentions);
}

/** Files that name the charts that a fleet may leave out. */
const optional = /^repos\/gitops-system\/(tools\/base\/addons|platform\/kyverno|platform\/hub\/(argocd|cluster-api))\//;

/** A reference whose registry requires a credential. */
const forSome = /status 40[13]/;

/** The config key of the clusters' credential for the registry. */
const credentialKey = (reference: Reference) => (reference.kind === "chart" ? "chartsPassword" : "pullSecret");

/** The credential that the clusters have for a registry that refuses doctor, which decrypts nothing; undefined if there is none. */
function admittedBy(reference: Reference, encrypted: readonly string[]): string | undefined {
  const place = reference.kind === "chart" ? reference.repository : "reference" in reference && reference.reference;
  if (place && isEcr(place)) return "the role with which clusters log in to Amazon ECR";
  const key = credentialKey(reference);
  return encrypted.includes(key) ? key : undefined;
}

/** How to publish the composition function, the one package that nobody else publishes; undefined for another reference. */
function publication(reference: Reference, { functionPackage }: Readable): string | undefined {
  const isFunction =
    "reference" in reference && functionPackage && reference.reference.startsWith(`${withoutDigest(functionPackage)}:`);
  return isFunction ? "publish it (docs/guides/signatures.md#the-functions-package)" : undefined;
}

/**
 * Whether the hub pulls the function by its digest. A workflow of any branch that requests `packages: write` can move the tags of a package that is
 * linked to its repository (GitHub Docs, "Configuring a package's access control and visibility": the repository's workflows inherit access).
 */
export function checkFunctionDigest({ functionPackage = "" }: Readable): Finding[] {
  if (functionPackage === "") return [];
  if (digestOf(functionPackage) !== "") return [ok("functionPackage", "is pulled by its digest")];
  const todo = `pulumi config set functionPackage ${functionPackage}@sha256:<digest>, which the release and crane push print (docs/guides/signatures.md#the-functions-package)`;
  return isEcr(functionPackage)
    ? [
        note(
          "functionPackage",
          "has no digest, and Amazon ECR lets a tag move unless the repository's tags are immutable",
          todo,
        ),
      ]
    : [wrong("functionPackage", "has no digest: whoever can push to the package decides what the hub runs", todo)];
}

function finding(
  { reference, state, message = "" }: Outcome,
  { settings, encrypted, embedded }: Pick<Stack, "settings" | "encrypted" | "embedded">,
): Finding[] {
  if (state === "wrong" && embedded && reference.origins.every((origin) => optional.test(origin)))
    return [note(title(reference), "is not on the embedded cloud", `try it on AWS: ${reference.origins.join(", ")}`)];
  const places = `it is named in ${reference.origins.join(", ")}`;
  if (forSome.test(message)) {
    const admitted = admittedBy(reference, encrypted);
    if (admitted !== undefined) {
      const told = `requires a credential, and ${admitted} is not tried here`;
      const publish = publication(reference, settings);
      const others = publish === undefined ? "" : `, or ${publish} if it never was`;
      return [note(title(reference), told, `check that the credential is the right one${others}`)];
    }
    const first = publication(reference, settings) ?? "name one that exists";
    const todo = `${places}: ${first}, make it readable, or set ${credentialKey(reference)} (docs/guides/mirrors.md)`;
    return [(state === "wrong" ? wrong : unchecked)(title(reference), message, todo)];
  }
  if (state === "wrong")
    return [wrong(title(reference), message, `${places}: name one that exists, or make it readable`)];
  if (state === "unanswered")
    return [
      unchecked(title(reference), message, `${places}: check that its server can be reached from here, and try again`),
    ];
  return [];
}

/** Whether the clusters can pull what the project's own files name. */
export async function checkReferences(
  { settings, encrypted, embedded }: Pick<Stack, "settings" | "encrypted" | "embedded">,
  options: ReferenceOptions,
): Promise<Finding[]> {
  const { references, undecided } = projectReferences(options.root, settings);
  const all = fetched(references, settings);
  const asked = embedded ? all.filter(({ kind }) => kind === "chart") : all;
  const findings = (await resolve(asked, options)).flatMap((outcome) =>
    finding(outcome, { settings, encrypted, embedded }),
  );
  const right = asked.length - findings.length;
  const pulled = ok(embedded ? "charts" : "charts, images, packages", `${right} of ${asked.length} can be pulled`);
  return [
    ...(right > 0 ? [pulled] : []),
    ...(embedded ? [brought] : imagesOfCharts(settings)),
    ...undecided.map((text) => note("not known from the files", text, "check it on the cluster")),
    ...findings,
  ];
}
