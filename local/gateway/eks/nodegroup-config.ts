import { _InstanceType } from "@aws-sdk/client-ec2";
import * as z from "zod";
import { isArm } from "../../product.ts";
import { invalidParameter } from "./errors.ts";
import type { Nodegroup } from "./model.ts";
import { structure, text } from "./operation.ts";

/** The taint effects of EKS with those of Kubernetes. */
export const TAINT_EFFECTS = {
  NO_SCHEDULE: "NoSchedule",
  NO_EXECUTE: "NoExecute",
  PREFER_NO_SCHEDULE: "PreferNoSchedule",
} as const;

const effects = Object.keys(TAINT_EFFECTS) as (keyof typeof TAINT_EFFECTS)[];
const size = z.number().int();

export const scalingConfig = structure({
  minSize: size.min(0).optional(),
  maxSize: size.min(1).optional(),
  desiredSize: size.min(0).optional(),
});
export const updateConfig = structure({
  maxUnavailable: size.min(1).max(100).optional(),
  maxUnavailablePercentage: size.min(1).max(100).optional(),
}).refine(
  ({ maxUnavailable, maxUnavailablePercentage }) =>
    (maxUnavailable === undefined) !== (maxUnavailablePercentage === undefined),
  "updateConfig: allowed is one of maxUnavailable and maxUnavailablePercentage",
);

/** Whether EKS replaces nodes that its monitoring agent reports: kept and told here, and nothing is repaired. */
export const nodeRepairConfig = structure({ enabled: z.boolean().optional() });

/** What kubelets may not register with, and labels of EKS's own: the words are EKS's (eksctl-io/eksctl#4007). */
const reserved = /^([^/]*\.)?(kubernetes\.io|k8s\.io|eks\.amazonaws\.com)\//;
export const labels = z
  .record(
    text.max(63),
    z
      .string()
      .regex(
        /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/,
        'a label of EKS has a value of 1 to 63 letters, digits, "-", "_" and "."',
      ),
  )
  .refine(
    (all) => !Object.keys(all).some((key) => reserved.test(key)),
    "Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]",
  );
/** At most 50 of a group (CreateNodegroup, API reference). */
export const taints = z
  .array(structure({ key: text.max(63), value: z.string().max(63).optional(), effect: z.enum(effects) }))
  .max(50);
export const launchTemplate = structure({
  name: z.string().optional(),
  version: z.string().optional(),
  id: z.string().optional(),
});

const knownTypes: ReadonlySet<string> = new Set(Object.values(_InstanceType));

/** Throws, in EKS's words, when EC2 does not have a type or its processor does not fit the AMI. */
export function expectInstanceTypes(instanceTypes: readonly string[], amiType: string): void {
  const unknown = instanceTypes.filter((type) => !knownTypes.has(type));
  if (unknown.length > 0)
    throw invalidParameter(`The following supplied instance types do not exist: [${unknown.join(", ")}]`);
  if (amiType === "CUSTOM") return;
  const wrong = instanceTypes.filter((type) => isArm(type) !== amiType.includes("ARM"));
  if (wrong.length > 0)
    throw invalidParameter(`[${wrong.join(", ")}] is not a valid instance type for requested amiType ${amiType}`);
}

/** The requested scaling over the current one. Throws in EKS's words. */
export function scalingOf(now: Nodegroup["scalingConfig"], asked: z.output<typeof scalingConfig> = {}) {
  const scaling = { ...now, ...asked } as { minSize: number; maxSize: number; desiredSize: number };
  const { minSize, maxSize, desiredSize } = scaling;
  if (minSize > desiredSize)
    throw invalidParameter(`Minimum capacity ${minSize} can't be greater than desired size ${desiredSize}`);
  if (desiredSize > maxSize)
    throw invalidParameter(`desired capacity ${desiredSize} can't be greater than max size ${maxSize}`);
  return scaling;
}
