/** The flags of upstream's controllers that have a meaning here (aws-controllers-k8s/runtime v0.62.0, pkg/config/config.go); others are refused. */
import { parseArgs } from "node:util";
import { type Service, served, services } from "./definitions.ts";

export interface Settings {
  readonly service: Service;
  readonly region: string;
  readonly isDebug: boolean;
  /** `key=value`. */
  readonly resourceTags: readonly string[];
  /** None: all. */
  readonly namespaces: readonly string[];
  readonly deletionPolicy: string;
  /** Milliseconds from one look at a resource that is in sync to the next. */
  readonly resyncMs: number;
  /** Objects that are worked on at the same time. */
  readonly concurrency: number;
  readonly mayAdopt: boolean;
}

const text = { type: "string" } as const;
const flags = {
  "aws-region": { ...text, default: "" },
  "log-level": { ...text, default: "info" },
  "resource-tags": { ...text, default: "" },
  "watch-namespace": { ...text, default: "" },
  "reconcile-resources": { ...text, default: "" },
  "deletion-policy": { ...text, default: "delete" },
  "reconcile-default-resync-seconds": { ...text, default: "36000" },
  "reconcile-resource-resync-seconds": { ...text, multiple: true, default: [] as string[] },
  "reconcile-default-max-concurrent-syncs": { ...text, default: "1" },
  "feature-gates": { ...text, default: "" },
  "enable-carm": { ...text, default: "true" },
  "enable-cross-namespace": { ...text, default: "true" },
} as const;
type Flag = keyof typeof flags;

const refused = (flag: Flag, got: string, allowed: string): Error =>
  new Error(`--${flag}=${got}: allowed is ${allowed}; correct the chart's values`);

const listOf = (value: string): string[] => (value === "" ? [] : value.split(",").map((each) => each.trim()));

function positive(flag: Flag, value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw refused(flag, value, "a whole number from 1");
  return Number(value);
}

/** Upstream's default is on. @throws where one is on that the stand-in has nothing for */
function readGates(value: string): { readonly mayAdopt: boolean } {
  const gates: Record<string, boolean> = { ReadOnlyResources: true, ResourceAdoption: true };
  for (const each of listOf(value)) {
    const [name = "", state = ""] = each.split("=");
    if (state !== "true" && state !== "false") throw refused("feature-gates", each, "<name>=true or <name>=false");
    gates[name] = state === "true";
  }
  const { ResourceAdoption: mayAdopt = true, ...others } = gates;
  const on = Object.keys(others).filter((name) => others[name]);
  if (on.length > 0)
    throw refused(
      "feature-gates",
      on.map((name) => `${name}=true`).join(","),
      "ResourceAdoption alone to be on, for the stand-in has nothing of the others",
    );
  return { mayAdopt };
}

/** @throws for an unknown service, unknown flags, and values that the stand-in does not honour */
export function readSettings(args: readonly string[]): Settings {
  const { values, positionals } = parseArgs({ args: [...args], options: flags, allowPositionals: true });
  const [given = ""] = positionals;
  const service = services.find((each) => each === given);
  if (service === undefined || positionals.length > 1)
    throw new Error(
      `the service is the only argument beside flags: ${services.join(" or ")}, got ${positionals.join(" ") || "none"}`,
    );
  const { kind } = served[service].spec.names;
  const region = values["aws-region"];
  if (region === "") throw refused("aws-region", region, "a region of AWS");
  for (const flag of ["enable-carm", "enable-cross-namespace"] as const)
    if (values[flag] !== "false") throw refused(flag, values[flag], "false, for the stand-in has nothing of it");
  for (const name of listOf(values["reconcile-resources"]))
    if (name !== kind) throw refused("reconcile-resources", name, kind);
  if (!["delete", "retain"].includes(values["deletion-policy"]))
    throw refused("deletion-policy", values["deletion-policy"], "delete or retain");
  const resourceTags = listOf(values["resource-tags"]);
  for (const tag of resourceTags)
    if (tag.split("=").length !== 2) throw refused("resource-tags", tag, "<key>=<value>, separated by commas");
  const own = values["reconcile-resource-resync-seconds"].map((each) => each.split("="));
  for (const [name = ""] of own)
    if (name !== kind) throw refused("reconcile-resource-resync-seconds", name, `${kind}=<seconds>`);
  const seconds = own.at(-1)?.[1];
  return {
    ...{ service, region, resourceTags },
    isDebug: values["log-level"] === "debug",
    namespaces: listOf(values["watch-namespace"]),
    deletionPolicy: values["deletion-policy"],
    resyncMs:
      1000 *
      (seconds === undefined
        ? positive("reconcile-default-resync-seconds", values["reconcile-default-resync-seconds"])
        : positive("reconcile-resource-resync-seconds", seconds)),
    concurrency: positive("reconcile-default-max-concurrent-syncs", values["reconcile-default-max-concurrent-syncs"]),
    ...readGates(values["feature-gates"]),
  };
}
