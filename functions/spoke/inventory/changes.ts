import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../kube.ts";
import { type ClusterProfile, managerLabel, type ProfileStatus } from "./profile.ts";

/** What is to be written so that there are the profiles that are wanted, and no other of the same manager. */
export interface Changes {
  readonly apply: readonly ClusterProfile[];
  readonly status: readonly ClusterProfile[];
  readonly remove: readonly string[];
}

const main = ({ metadata: { labels }, spec }: ClusterProfile) => ({ labels, spec });

/** By name and type: the API server has these lists as maps, in no order that a writer decides. */
const sorted = <Item extends object>(items: readonly Item[] = [], key: keyof Item): readonly Item[] =>
  items.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));

const comparable = ({ version, conditions, properties, accessProviders }: ProfileStatus = {}) => ({
  version,
  conditions: sorted(conditions, "type"),
  properties: sorted(properties, "name"),
  accessProviders: sorted(accessProviders, "name"),
});

/** @param manager whose profiles these are: those of others stay as they are */
export function changes(
  wanted: readonly ClusterProfile[],
  found: ReadonlyMap<string, ClusterProfile>,
  manager: string,
): Changes {
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const isOurs = ({ metadata }: KubeObject) => metadata.labels?.[managerLabel] === manager;
  const before = (profile: ClusterProfile) => found.get(profile.metadata.name);
  const differs = (profile: ClusterProfile, view: (profile: ClusterProfile) => unknown): boolean => {
    const there = before(profile);
    return there === undefined || !isDeepStrictEqual(view(profile), view(there));
  };
  return {
    apply: wanted.filter((profile) => differs(profile, main)),
    status: wanted.filter((profile) => differs(profile, ({ status }) => comparable(status))),
    remove: [...found.values()]
      .filter((profile) => isOurs(profile) && !names.has(profile.metadata.name))
      .map(({ metadata }) => metadata.name),
  };
}
