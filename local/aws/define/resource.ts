/** One definition per AWS resource: the handler that creates, reads, updates and deletes it follows from its fields and calls. */
import type { Aws } from "../connection.ts";
import { isGone, orGone } from "../errors.ts";
import { type Change, finishing, type Handler, type Traits } from "../handler.ts";
import { poll } from "../poll.ts";
import type { Properties, Tags } from "../properties.ts";
import { type TagPair, tagChanges, tagPairs, tagsFrom } from "../tags.ts";
import type { CrossplaneTraits } from "./crossplane.ts";
import { type Fields, type InputsOf, type Item, tablesOf } from "./fields.ts";
import { type Case, propertiesOf, requestOf } from "./mapping.ts";

/** How the API of a service takes tags. */
export interface TagCalls {
  /** Members of a creation's request; none when there are no tags. */
  request(tags: Tags): Item;
  /** The tags of a resource, `aws:…` left out. */
  of(aws: Aws, id: string, item: Item): Tags | Promise<Tags>;
  /** `target` is what {@link target} gives. */
  set(aws: Aws, target: string, tags: Tags): Promise<unknown>;
  remove(aws: Aws, target: string, keys: string[]): Promise<unknown>;
  /** The identifier that the tagging calls take; default: the id. */
  target?(item: Item): string;
}

/** Tags as most services take and give them: `Tags`, a list of keys and values. */
export const pairTags = (
  set: (aws: Aws, id: string, pairs: TagPair[]) => Promise<unknown>,
  remove: TagCalls["remove"],
): TagCalls => ({
  request: (tags) => ({ Tags: tagPairs(tags) }),
  of: (_aws, _id, { Tags: pairs }) => tagsFrom(pairs as TagPair[] | undefined),
  set: (aws, id, tags) => set(aws, id, tagPairs(tags)),
  remove,
});

/** The states of a resource that AWS makes and removes in its own time. */
interface States {
  /** Noun for messages, `NAT gateway`. */
  readonly what: string;
  readonly of: (item: Item) => string | undefined;
  readonly usable: readonly string[];
  /** Others than these and `usable` mean that it will never be usable. */
  readonly pending: readonly string[];
  /** In these it counts as gone, though AWS still describes it. */
  readonly leaving: readonly string[];
  /** Why AWS gave up. */
  readonly reason?: (item: Item) => string | undefined;
}

/** A call that sets some of the inputs of an existing resource. */
interface Setting<I> {
  readonly fields: readonly (keyof I & string)[];
  readonly call: (aws: Aws, id: string, inputs: I, change: Pick<Change<Partial<I>>, "old" | "has">) => Promise<unknown>;
  /** The creation does not take these inputs: the call follows it when they are not as AWS has them at first. */
  readonly initially?: (inputs: I) => boolean;
  /** The resource is not usable for a while after it: it is waited for. */
  readonly settles?: true;
}

export interface Definition<I extends object> extends Traits<I> {
  readonly fields: Fields;
  readonly case?: Case;
  readonly crossplane?: CrossplaneTraits;
  readonly tags?: TagCalls;
  readonly states?: States;
  /** Creates it. Returns its id unless `idOf` derives it. `request` holds the members that follow from fields and tags. */
  create(aws: Aws, request: Item, inputs: I): Promise<unknown>;
  /** The description that AWS returns; undefined or a not-found error when there is no such resource. */
  find(aws: Aws, id: string, last: Partial<I> & Properties): Promise<object | undefined>;
  /** Members that the description lacks; fetched when the resource is read. */
  also?(aws: Aws, id: string, item: Item): Promise<Item>;
  readonly settings?: readonly Setting<I>[];
  delete(aws: Aws, id: string, last: Partial<I> & Properties): Promise<unknown>;
  /** Noun for messages of a resource that is usable at once, but whose deletion takes AWS a while. */
  readonly lingers?: string;
}

/** Types the calls of a definition by its fields. */
export function define<const F extends Fields>(
  definition: Omit<Definition<InputsOf<F>>, "fields"> & { readonly fields: F },
): Handler {
  return handlerOf(definition as unknown as Definition<Properties>);
}

function handlerOf(definition: Definition<Properties>): Handler {
  const { fields, case: written = "pascal", states, tags, settings = [], crossplane, lingers, ...rest } = definition;
  const { create, find: describe, also, delete: remove, ...traits } = rest;
  const find = (aws: Aws, id: string, last: Properties = {}) =>
    orGone(describe(aws, id, last)) as Promise<Item | undefined>;

  const usable = async (aws: Aws, id: string, of: States): Promise<true | undefined> => {
    const item = await find(aws, id);
    const state = item && of.of(item);
    if (state !== undefined && of.usable.includes(state)) return true;
    if (state !== undefined && of.pending.includes(state)) return undefined;
    if (item === undefined) throw new Error(`${of.what} ${id} is gone`);
    // In the words of Terraform (terraform-plugin-sdk, helper/retry, UnexpectedStateError).
    throw new Error(
      `waiting for ${of.what} (${id}): unexpected state '${state}', wanted target '${of.usable.join(", ")}'. ` +
        `last error: ${of.reason?.(item) || "no reason given"}`,
    );
  };
  const ready =
    states &&
    (async (aws: Aws, id: string): Promise<void> => {
      const what = `${states.what} ${id} to become ${states.usable[0]}`;
      await poll({ what, timeout: aws.timeout }, () => usable(aws, id, states));
    });

  const isLeaving = (item: Item): boolean => states?.leaving.includes(states.of(item) ?? "") ?? false;

  const gone = async (aws: Aws, id: string, what: string): Promise<void> => {
    await poll({ what: `${what} ${id} to be deleted`, timeout: aws.timeout }, async () => {
      const item = await find(aws, id);
      if (item && states?.of(item) === "DELETE_FAILED")
        throw new Error(`AWS could not delete ${what} ${id}: ${states.reason?.(item) ?? "no reason given"}`);
      return item ? undefined : true;
    });
  };

  const syncTags = async (aws: Aws, id: string, calls: TagCalls, { old, new: now }: Change<Properties>) => {
    const changes = tagChanges(old["tagsAll"] as Tags | undefined, now["tagsAll"] as Tags | undefined);
    const nothing = changes.remove.length === 0 && Object.keys(changes.set).length === 0;
    if (nothing) return;
    const target = calls.target?.((await find(aws, id)) ?? {}) ?? id;
    // First what goes, so that the limit of 50 tags holds.
    if (changes.remove.length > 0) await calls.remove(aws, target, changes.remove);
    if (Object.keys(changes.set).length > 0) await calls.set(aws, target, changes.set);
  };

  const update = async (aws: Aws, id: string, change: Change<Properties>): Promise<void> => {
    for (const { fields: names, call, settles } of settings) {
      if (!change.has(...names)) continue;
      await call(aws, id, change.new, change);
      if (settles) await ready?.(aws, id);
    }
    if (tags) await syncTags(aws, id, tags, change);
  };

  return {
    ...traits,
    ...tablesOf(fields),
    definition: { fields, case: written, ...(crossplane && { crossplane }) },
    ...(tags && { tagged: true }),
    ...(ready && { ready }),

    async create(aws, inputs) {
      const all = (inputs["tagsAll"] ?? {}) as Tags;
      const tagged = tags && Object.keys(all).length > 0 ? tags.request(all) : {};
      const given = await create(aws, { ...requestOf(fields, inputs, written), ...tagged }, inputs);
      const id = traits.idOf ? traits.idOf(inputs) : (given as string | undefined);
      return finishing(id, async (made) => {
        await ready?.(aws, made);
        for (const { call, initially } of settings)
          if (initially?.(inputs)) await call(aws, made, inputs, { old: {}, has: () => true });
      });
    },

    async read(aws, id, last) {
      const found = await find(aws, id, last);
      if (!found || isLeaving(found)) return null;
      const item = { ...found, ...(await also?.(aws, id, found)) };
      const properties = propertiesOf(fields, item, { aws, id, last }, written);
      return tags ? { ...properties, tagsAll: await tags.of(aws, id, item) } : properties;
    },

    ...((tags || settings.length > 0) && { update }),

    async delete(aws, id, last) {
      try {
        await remove(aws, id, last);
      } catch (error) {
        // A deletion that runs already (an interrupted destroy) is waited for.
        const item = isGone(error) ? undefined : await find(aws, id, last);
        if (item && !isLeaving(item)) throw error;
      }
      const what = states?.what ?? lingers;
      if (what) await gone(aws, id, what);
    },
  };
}
