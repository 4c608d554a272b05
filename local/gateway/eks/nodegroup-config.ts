import { _InstanceType } from "@aws-sdk/client-ec2";
import { isArm } from "../../../lib/instance-types.ts";
import { MAX_NODES } from "../../instance/index.ts";
import { invalidParameter } from "./errors.ts";
import type { Nodegroup } from "./model.ts";
import { structure } from "./operation.ts";

export { MAX_NODES };

type Body = Readonly<Record<string, unknown>>;
type Scaling = { minSize: number; maxSize: number; desiredSize: number };
type Taint = { key: string; value?: string; effect: "NO_SCHEDULE" | "NO_EXECUTE" | "PREFER_NO_SCHEDULE" };

/** The taint effects of EKS with those of Kubernetes. */
export const TAINT_EFFECTS = {
  NO_SCHEDULE: "NoSchedule",
  NO_EXECUTE: "NoExecute",
  PREFER_NO_SCHEDULE: "PreferNoSchedule",
} as const;

const knownTypes: ReadonlySet<string> = new Set(Object.values(_InstanceType));

/** Throws where a type does not exist in EC2, or has another processor than the AMI. In the words of EKS. */
export function expectInstanceTypes(instanceTypes: readonly string[], amiType: string): void {
  const unknown = instanceTypes.filter((type) => !knownTypes.has(type));
  if (unknown.length > 0)
    throw invalidParameter(`The following supplied instance types do not exist: [${unknown.join(", ")}]`);
  if (amiType === "CUSTOM") return;
  const wrong = instanceTypes.filter((type) => isArm(type) !== amiType.includes("ARM"));
  if (wrong.length > 0)
    throw invalidParameter(`[${wrong.join(", ")}] is not a valid instance type for requested amiType ${amiType}`);
}

/** The scaling that a body asks for, over what holds now. */
export function scalingOf(body: Body, now: Scaling): Scaling {
  const asked = structure(body, "scalingConfig", ["minSize", "maxSize", "desiredSize"]) ?? {};
  const size = (name: keyof Scaling): number => {
    const value = asked[name] ?? now[name];
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
      throw invalidParameter(`scalingConfig.${name}: got ${JSON.stringify(value)}, allowed are whole numbers from 0`);
    return value;
  };
  const scaling = { minSize: size("minSize"), maxSize: size("maxSize"), desiredSize: size("desiredSize") };
  if (scaling.maxSize < 1) throw invalidParameter("scalingConfig.maxSize: got 0, allowed are whole numbers from 1");
  if (scaling.minSize > scaling.desiredSize)
    throw invalidParameter(
      `Minimum capacity ${scaling.minSize} can't be greater than desired size ${scaling.desiredSize}`,
    );
  if (scaling.desiredSize > scaling.maxSize)
    throw invalidParameter(`desired capacity ${scaling.desiredSize} can't be greater than max size ${scaling.maxSize}`);
  return scaling;
}

export function updateConfigOf(body: Body): NonNullable<Nodegroup["updateConfig"]> | undefined {
  const asked = structure(body, "updateConfig", ["maxUnavailable", "maxUnavailablePercentage"]);
  if (asked === undefined) return undefined;
  const given = Object.entries(asked).filter(([, value]) => value !== undefined && value !== null);
  const [name, value] = given[0] ?? [];
  if (given.length !== 1 || typeof value !== "number" || value < 1 || value > 100)
    throw invalidParameter(
      `updateConfig: got ${JSON.stringify(asked)}, allowed is one of maxUnavailable and maxUnavailablePercentage, from 1 to 100`,
    );
  return { [name as "maxUnavailable"]: value };
}

export function labelsOf(value: unknown): Record<string, string> {
  const labels = value ?? {};
  if (typeof labels !== "object" || Array.isArray(labels))
    throw invalidParameter("labels: a map of strings is allowed");
  for (const [name, text] of Object.entries(labels as Record<string, unknown>))
    if (typeof text !== "string" || !/^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/.test(text) || name === "")
      throw invalidParameter(
        `labels: ${name}=${String(text)} is not a label of Kubernetes (at most 63 letters, digits, "-", "_" and ".")`,
      );
  return { ...(labels as Record<string, string>) };
}

export function taintsOf(value: unknown): Taint[] {
  const taints = value ?? [];
  if (!Array.isArray(taints)) throw invalidParameter("taints: a list is allowed");
  return (taints as Partial<Taint>[]).map((taint) => {
    if (typeof taint.key !== "string" || taint.key === "" || !Object.hasOwn(TAINT_EFFECTS, taint.effect ?? ""))
      throw invalidParameter(
        `taints: got ${JSON.stringify(taint)}, allowed are key, value and an effect of ${Object.keys(TAINT_EFFECTS).join(", ")}`,
      );
    return {
      key: taint.key,
      effect: taint.effect as Taint["effect"],
      ...(taint.value === undefined ? {} : { value: taint.value }),
    };
  });
}
