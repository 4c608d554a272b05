/**
 * Late initialization: unset fields of `spec.forProvider` get the values that AWS has, and are enforced from then on, as upjet does it
 * (crossplane/upjet dbfccb48, pkg/resource/lateinit.go, and pkg/pipeline/templates/terraformed.go.tmpl, which sets its filters).
 */
import { isBlock } from "../../aws/compare.ts";
import { type Field, type Fields, membersOf } from "../../aws/define/fields.ts";
import type { Properties } from "../../aws/properties.ts";
import type { Kind } from "./kind.ts";
import type { Managed } from "./managed.ts";
import { specFields } from "./shape.ts";

interface LateInitializer {
  /** Fields that stay unset. */
  readonly ignored?: readonly string[];
  /** Fields that stay unset if `spec.initProvider` has them. */
  readonly ignoredIfInitial?: readonly string[];
}

/**
 * What upstream excludes, also of fields that aren't served here (crossplane-contrib/provider-upjet-aws 75a4c571,
 * config/namespaced/<group>/config.go, LateInitializer; under the names of the CRDs). It excludes nothing of the other kinds.
 */
export const lateInitializers: Readonly<Record<string, LateInitializer>> = {
  "cloudwatchlogs/Group": { ignored: ["namePrefix"] },
  "ec2/FlowLog": { ignored: ["logFormat", "logDestination", "logGroupName"] },
  "ec2/LaunchTemplate": { ignored: ["defaultVersion"] },
  "ec2/Subnet": { ignored: ["availabilityZoneId"] },
  "ec2/VPC": { ignored: ["ipv6CidrBlock", "cidrBlock"] },
  "ec2/VPCEndpoint": { ignored: ["subnetConfiguration"] },
  "eks/NodeGroup": { ignored: ["releaseVersion", "version"], ignoredIfInitial: ["scalingConfig"] },
  "iam/Role": { ignored: ["managedPolicyArns", "inlinePolicy"] },
  "rds/Instance": { ignored: ["name", "dbName", "availabilityZone"] },
  "sqs/Queue": { ignored: ["namePrefix", "policy"] },
};

/** A value to write; a block without any set member is written only together with something else. */
interface Copy {
  readonly value: unknown;
  readonly isSet: boolean;
}

/** The filter WithZeroValueJSONOmitEmptyFilter: false, 0, "" and what is empty stay unset. */
const isZero = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length === 0;
  return isBlock(value) ? Object.keys(value).length === 0 : !value;
};

/** A block without its zero members. Members of a block that is set are never added: upjet compares whole fields. */
function block(members: Fields, value: Properties): Copy {
  const copies = Object.entries(members).flatMap(([property, field]): [string, Copy][] => {
    const name = field.crd ?? property;
    return isZero(value[name]) ? [] : [[name, copyOf(field, value[name])]];
  });
  return {
    value: Object.fromEntries(copies.map(([name, copy]) => [name, copy.value])),
    isSet: copies.some(([, { isSet }]) => isSet),
  };
}

function copyOf(field: Field, value: unknown): Copy {
  const members = membersOf(field);
  if (members && isBlock(value)) return block(members, value);
  if (members && Array.isArray(value))
    return { value: value.map((item: Properties) => block(members, item).value), isSet: true };
  return { value, isSet: true };
}

/**
 * The fields to add to `spec.forProvider`; undefined if there are none.
 * @param observed what AWS has, in the form of `forProvider`
 */
export function lateInitialized(
  { group, kind, fields, handler }: Kind,
  { forProvider, initProvider = {} }: Managed["spec"],
  observed: Properties,
): Properties | undefined {
  const { ignored = [], ignoredIfInitial = [] } = lateInitializers[`${group}/${kind}`] ?? {};
  const isUnset = (values: Properties, name: string) => values[name] === undefined || values[name] === null;
  const isOpen = (name: string) =>
    isUnset(forProvider, name) &&
    !ignored.includes(name) &&
    !(ignoredIfInitial.includes(name) && !isUnset(initProvider, name));
  const all: Fields = { ...specFields(fields), ...(handler.tagged && { tags: { type: "map" } as const }) };
  const open = Object.fromEntries(
    Object.entries(all).filter(([property, { crd = property }]) => isOpen(crd as string)),
  );
  const { value, isSet } = block(open, observed);
  return isSet ? (value as Properties) : undefined;
}
