import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../kube.ts";
import { type ClusterProfile, managerLabel, ownLabels, statusKeys } from "./profile.ts";

/** What is to be written so that there are the profiles that are wanted, and no other of the same manager. */
export interface Changes {
  readonly create: readonly ClusterProfile[];
  /** Labels and specification. */
  readonly patch: readonly Patch[];
  readonly status: readonly Patch[];
  readonly remove: readonly string[];
}

/** A JSON merge patch (RFC 7396): null takes a field away, a list is replaced as a whole. */
interface Patch {
  readonly name: string;
  readonly body: object;
}

/** Each of the keys, with null for those without a value. */
const whole = (keys: readonly string[], values: object = {}): object =>
  Object.fromEntries(keys.map((key) => [key, (values as Readonly<Record<string, unknown>>)[key] ?? null]));

/** All that the program decides of a profile, as it is and as it is written. Other labels are other people's. */
const main = ({ metadata, spec }: ClusterProfile) => ({
  metadata: { labels: whole(ownLabels, metadata.labels) },
  spec,
});
/** A tool acts on whatever is in a status, so that nothing stays there that somebody else has added. */
const status = (profile: ClusterProfile) => ({ status: whole(statusKeys, profile.status) });

/** @param manager whose profiles these are: those of others stay as they are */
export function changes(
  wanted: readonly ClusterProfile[],
  found: ReadonlyMap<string, ClusterProfile>,
  manager: string,
): Changes {
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const isOurs = ({ metadata }: KubeObject) => metadata.labels?.[managerLabel] === manager;
  const before = ({ metadata }: ClusterProfile) => found.get(metadata.name);
  const patches = (view: (profile: ClusterProfile) => object): Patch[] =>
    wanted.flatMap((profile) => {
      const there = before(profile);
      const body = view(profile);
      const isSame = there !== undefined && isDeepStrictEqual(body, view(there));
      return isSame ? [] : [{ name: profile.metadata.name, body }];
    });
  return {
    create: wanted.filter((profile) => before(profile) === undefined),
    patch: patches(main).filter(({ name }) => found.has(name)),
    status: patches(status),
    remove: [...found.values()]
      .filter((profile) => isOurs(profile) && !names.has(profile.metadata.name))
      .map(({ metadata }) => metadata.name),
  };
}
