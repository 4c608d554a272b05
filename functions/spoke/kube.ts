/** Kubernetes objects as plain data. */

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
  readonly status?: unknown;
}

export interface KubeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The value under `path`, or undefined where the path ends before. Numbers are indices of lists. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string | number, unknown>)[key] : undefined,
    value,
  );
}

/** The text under `path`; undefined where there is none. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** Only what is known: an absent field of a status deletes what an earlier run wrote, and one that is undefined can't be written. */
export function known<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

export function condition(object: KubeObject | undefined, type: string): KubeCondition | undefined {
  const conditions = at(object?.status, "conditions");
  return Array.isArray(conditions) ? (conditions as KubeCondition[]).find((each) => each.type === type) : undefined;
}

/** Whether the controller has seen the newest specification; true for kinds that don't report it. */
function observedNewest(object: KubeObject): boolean {
  const seen = at(object.status, "observedGeneration");
  return seen === undefined || seen === object.metadata.generation;
}

/** Statuses of an EKS cluster or node group that works (EKS API reference). What is degraded lacks something, and runs. */
const working: readonly string[] = ["ACTIVE", "UPDATING", "DEGRADED"];

/** The status that AWS reports of a managed resource; of those that a spoke is made of, clusters and node groups have one. */
export const statusInAws = (object: KubeObject | undefined): string | undefined =>
  textAt(object?.status, "atProvider", "status");

/**
 * Whether AWS has a NAT gateway for the internet without an address. It is being made then, or AWS failed to make it; the provider does not tell
 * its state (terraform-provider-aws, internal/service/ec2/vpc_nat_gateway.go).
 */
export function lacksAddress(object: KubeObject | undefined): boolean {
  if (object?.kind !== "NATGateway") return false;
  const [id, type, publicIp, association] = ["id", "connectivityType", "publicIp", "associationId"].map((field) =>
    textAt(object.status, "atProvider", field),
  );
  return Boolean(id) && type !== "private" && !publicIp && !association;
}

/** Whether a cluster, a node group or a NAT gateway works by what AWS says of it; undefined where AWS has said nothing, or has no status for the kind. */
export function worksInAws(object: KubeObject | undefined): boolean | undefined {
  if (lacksAddress(object)) return false;
  const said = statusInAws(object);
  return said === undefined ? undefined : working.includes(said);
}

/**
 * Whether the object exists and works: it is `Ready`, or its kind has no conditions. Crossplane's AWS provider calls whatever exists in AWS
 * Ready, what AWS failed to make included (upjet 2, pkg/controller/external_tfpluginsdk.go, Observe).
 */
export function isReady(object: KubeObject | undefined): boolean {
  if (object === undefined) return false;
  if (object.kind === "ConfigMap" || object.kind === "Secret") return true;
  return condition(object, "Ready")?.status === "True" && observedNewest(object) && worksInAws(object) !== false;
}

/**
 * Whether Flux is applying a commit or a changed specification, and has applied the previous one successfully, so that everything goes on
 * working meanwhile. It notes that it has seen a specification when it has applied it (kustomize-controller, finalizeStatus).
 */
export function goesOn(object: KubeObject): boolean {
  const ready = condition(object, "Ready");
  const last = at(object.status, "history", 0, "lastReconciledStatus");
  // Canceled: another commit came meanwhile.
  const underWay = ready?.status === "Unknown" || ready?.reason === "HealthCheckCanceled";
  const notBegun = ready?.status === "True" && !observedNewest(object);
  return (underWay || notBegun) && last === "ReconciliationSucceeded";
}
