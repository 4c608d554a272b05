import type { Readable } from "../../infra/settings.ts";
import { projectReferences } from "../upstream/project.ts";
import { collected, type Reference, title } from "../upstream/references.ts";
import { type Outcome, type ResolveOptions, resolve } from "../upstream/resolve.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

export interface ReferenceOptions extends ResolveOptions {
  /** Folder of the project. */
  readonly root: string;
}

/** An embedded cloud is asked for its charts alone. */
const brought = note(
  "images, packages",
  "come with the embedded cloud, under their upstream names",
  "npm run check:upstream looks for those of production",
);

/** What the clusters of a stack fetch: charts from the stack's mirror where it has one, images and Crossplane packages. Pure. */
export function fetched(references: readonly Reference[], { chartsRegistry }: Readable): Reference[] {
  const mentions = references.flatMap(({ origins, ...target }) => {
    if (target.kind !== "chart" && target.kind !== "image" && target.kind !== "package") return [];
    const from = target.kind === "chart" && chartsRegistry ? { ...target, repository: chartsRegistry } : target;
    return origins.map((origin) => ({ target: from, origin }));
  });
  return collected(mentions);
}

/** Where the charts are named that a fleet may leave out. */
const optional = /^repos\/gitops-system\/(tools\/base\/addons|platform\/kyverno)\//;

/** Where a registry wants to know who asks. */
const forSome = /status 40[13]/;

function finding(
  { reference, state, message = "" }: Outcome,
  { hasPullSecret, embedded }: { readonly hasPullSecret: boolean; readonly embedded: boolean },
): Finding[] {
  if (state === "wrong" && embedded && reference.origins.every((origin) => optional.test(origin)))
    return [note(title(reference), "is not on the embedded cloud", `try it on AWS: ${reference.origins.join(", ")}`)];
  if (state === "wrong" && reference.kind === "package" && hasPullSecret && forSome.test(message))
    return [
      note(
        title(reference),
        "is not for everybody to read, and pullSecret is not tried here",
        "see that it is the right one",
      ),
    ];
  const places = `it is named in ${reference.origins.join(", ")}`;
  if (state === "wrong")
    return [wrong(title(reference), message, `${places}: name one that is there, or make it readable`)];
  if (state === "unanswered")
    return [
      unchecked(title(reference), message, `${places}: see that its server can be reached from here, and try again`),
    ];
  return [];
}

/** Whether the clusters can pull what the project's own files name. */
export async function checkReferences(
  { settings, encrypted, embedded }: Pick<Stack, "settings" | "encrypted" | "embedded">,
  options: ReferenceOptions,
): Promise<Finding[]> {
  const packages = settings.functionPackage ? new Set([settings.functionPackage]) : undefined;
  const { references, undecided } = projectReferences(options.root, packages);
  const all = fetched(references, settings);
  const asked = embedded ? all.filter(({ kind }) => kind === "chart") : all;
  const hasPullSecret = encrypted.includes("pullSecret");
  const findings = (await resolve(asked, options)).flatMap((outcome) => finding(outcome, { hasPullSecret, embedded }));
  const right = asked.length - findings.length;
  return [
    embedded
      ? ok("charts", `${right} of ${asked.length} can be pulled`)
      : ok("charts, images, packages", `${right} of ${asked.length} can be pulled`),
    ...(embedded ? [brought] : []),
    ...undecided.map((text) => note("not known from the files", text, "look at it on the cluster")),
    ...findings,
  ];
}
