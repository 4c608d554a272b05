/** One kind of managed resource: its names in Kubernetes, the handler that serves it, and its fields. */

import type { CrossplaneTraits } from "../../aws/define/crossplane.ts";
import type { Fields } from "../../aws/define/fields.ts";
import type { Handler } from "../../aws/handler.ts";

export interface Kind extends Omit<CrossplaneTraits, "kind"> {
  /** Short name of the API group: `ec2` for `ec2.aws.m.upbound.io`. */
  readonly group: string;
  readonly kind: string;
  readonly handler: Handler;
  readonly fields: Fields;
}

export const API_SUFFIX = "aws.m.upbound.io";
export const VERSION = "v1beta1";

export const apiGroup = (group: string): string => `${group}.${API_SUFFIX}`;

/** CRDs of the kinds that a managed resource may name in `providerConfigRef`. */
export const configCrds = {
  ProviderConfig: `providerconfigs.${API_SUFFIX}`,
  ClusterProviderConfig: `clusterproviderconfigs.${API_SUFFIX}`,
} as const;
export type ConfigKind = keyof typeof configCrds;

/** The plural of a kind as upstream's generator makes it. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return name.endsWith("s") ? `${name}es` : `${name}s`;
}

/** `vpcs.ec2.aws.m.upbound.io`: the CRD's name. */
export const crdName = ({ group, kind }: Pick<Kind, "group" | "kind">): string =>
  `${pluralOf(kind)}.${apiGroup(group)}`;

/** The kinds of handlers; a handler without a kind serves Pulumi only. */
export function kindsOf(handlers: readonly Handler[]): Kind[] {
  return handlers.flatMap((handler) => {
    const { crossplane, fields = {} } = handler.definition ?? {};
    if (!crossplane) return [];
    const [group = "", kind = ""] = crossplane.kind.split("/");
    return [{ ...crossplane, group, kind, handler, fields }];
  });
}
