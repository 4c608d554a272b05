/** What the project takes from outside, each with the places that name it. */

/** A chart of a Helm repository (https://…) or of an OCI registry (oci://…). */
export interface ChartReference {
  readonly kind: "chart";
  readonly name: string;
  readonly version: string;
  readonly repository: string;
}

/** A container image, or a Crossplane package, which is one too: host/name:tag, or with a digest. */
interface ImageReference {
  readonly kind: "image" | "package";
  readonly reference: string;
}

/** An action of a workflow: a commit of a GitHub repository, and the tag that the comment behind it names. */
export interface ActionReference {
  readonly kind: "action";
  /** owner/name. */
  readonly repository: string;
  readonly commit: string;
  readonly tag: string;
}

/** A Kubernetes minor of EKS. */
export interface KubernetesReference {
  readonly kind: "kubernetes";
  readonly version: string;
  /** Last day of standard support as the project says it, as YYYY-MM-DD. */
  readonly supportEnds?: string;
}

/** All Kubernetes minors that the project offers. */
export interface OfferReference {
  readonly kind: "offer";
  readonly versions: readonly string[];
}

/** A version of an EKS add-on for a Kubernetes minor. */
export interface AddonReference {
  readonly kind: "addon";
  readonly name: string;
  readonly version: string;
  readonly kubernetesVersion: string;
}

export type Target =
  | ChartReference
  | ImageReference
  | ActionReference
  | KubernetesReference
  | OfferReference
  | AddonReference;

/** A target with the places that name it, as `path:line` from the project's root, or the path alone. */
export type Reference = Target & { readonly origins: readonly string[] };

/** One mention of a target. */
export interface Mention {
  readonly target: Target;
  readonly origin: string;
}

/** A target in words. */
export function title(target: Target): string {
  switch (target.kind) {
    case "chart":
      return `chart ${target.name} ${target.version} of ${target.repository}`;
    case "image":
    case "package":
      return `${target.kind} ${target.reference}`;
    case "action":
      return `action ${target.repository}@${target.commit} (${target.tag})`;
    case "kubernetes":
      return `Kubernetes ${target.version} of EKS`;
    case "offer":
      return `Kubernetes versions of EKS from ${target.versions[0]} on`;
    case "addon":
      return `EKS add-on ${target.name} ${target.version} for Kubernetes ${target.kubernetesVersion}`;
  }
}

/** Each target once, in the order of its words. */
export function collected(mentions: readonly Mention[]): Reference[] {
  const found = new Map<string, { readonly target: Target; readonly origins: Set<string> }>();
  for (const { target, origin } of mentions) {
    const known = found.get(title(target)) ?? { target, origins: new Set<string>() };
    known.origins.add(origin);
    found.set(title(target), known);
  }
  return [...found]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([, { target, origins }]) => ({ ...target, origins: [...origins].sort() }));
}
