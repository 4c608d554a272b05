/** One definition per AWS resource: the handler that creates, reads, updates and deletes it follows from its fields and calls. */
import type { Aws } from "../connection.ts";
import { isGone, orGone } from "../errors.ts";
import { type Change, finishing, type Handler, type Properties, type Tags } from "../handler.ts";
import { poll } from "../poll.ts";
import { syncTags, type TagPair, tagPairs, tagsFrom } from "../tags.ts";
import { type Fields, type InputsOf, type Item, tablesOf } from "./fields.ts";
import { type Case, propertiesOf, requestOf } from "./mapping.ts";

/** What an id can be derived from, besides the inputs. */
interface Account {
  readonly accountId: string;
  readonly partition: string;
}

/** How the annotation `crossplane.io/external-name` and the handler's id belong together (upstream: config/externalname.go). */
export type ExternalName =
  /** AWS gives the id, and the annotation holds it. */
  | { readonly kind: "assigned" }
  /** The annotation is the resource's name, at first the object's own; the handler takes it as its input `input`. */
  | {
      readonly kind: "name";
      readonly input: string;
      /** The value of the input; default: the external name itself. */
      readonly value?: (externalName: string) => string;
      /** Default: the value of the input. Undefined: inputs that it needs are missing. */
      readonly id?: (inputs: Properties, account: Account) => string | undefined;
    }
  /** The id follows from the inputs, and the annotation is set to it. Undefined: some are missing. */
  | { readonly kind: "derived"; readonly id: (inputs: Properties) => string | undefined };

export const named = (input: string): ExternalName => ({ kind: "name", input });

/** What Crossplane's provider needs to know of a resource besides its fields. */
export interface CrossplaneTraits {
  /** Group and kind, `ec2/VPC`. */
  readonly kind: string;
  /** Default: assigned. */
  readonly externalName?: ExternalName;
  /** Input that Terraform fills with a unique name when it is not set. */
  readonly generatedName?: string;
  /** What upstream publishes in the connection Secret. */
  readonly connection?: (actual: Properties) => Readonly<Record<string, string>>;
  /**
   * Finds a resource whose creation was interrupted before its id was recorded. Without it, only ids that are known beforehand
   * can be found again, and Crossplane's rule holds: the object waits for a person.
   */
  readonly recover?: (aws: Aws, inputs: Properties, name: string) => Promise<string | undefined>;
  /** Upstream wrote it by hand: it has no `initProvider`, and `atProvider` has its outputs alone. */
  readonly bare?: true;
  /** How often it is looked at, in milliseconds, where that does not follow the program's flag. */
  readonly pollMs?: (forProvider: Properties) => number;
  /** Long operations, whose failures upstream reports in the condition `LastAsyncOperation` too. */
  readonly asynchronous?: true;
}

/** How the API of a service takes tags. */
export interface TagCalls {
  /** Members of a creation's request; none when there are no tags. */
  request(tags: Tags): Item;
  /** The tags of a resource, `aws:…` left out. */
  of(aws: Aws, id: string, item: Item): Tags | Promise<Tags>;
  /** `target` is what {@link target} gives. */
  set(aws: Aws, target: string, tags: Tags): Promise<unknown>;
  remove(aws: Aws, target: string, keys: string[]): Promise<unknown>;
  /** What the calls name the resource by; default: its id. */
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

export interface Definition<I extends object> {
  readonly token: string;
  readonly fields: Fields;
  readonly case?: Case;
  readonly crossplane?: CrossplaneTraits;
  readonly tags?: TagCalls;
  readonly states?: States;
  /** Makes it and gives its id; `request` has the members that the fields and tags give. */
  create(aws: Aws, request: Item, inputs: I): Promise<string | undefined>;
  /** What AWS describes; an error that says that it does not exist is none. */
  find(aws: Aws, id: string, last: Partial<I> & Properties): Promise<Item | undefined>;
  /** What the description lacks; asked for when the resource is read. */
  also?(aws: Aws, id: string, item: Item): Promise<Item>;
  readonly settings?: readonly Setting<I>[];
  delete(aws: Aws, id: string, last: Partial<I> & Properties): Promise<unknown>;
  /** It is deleted in AWS's own time even though it is usable at once. */
  readonly lingers?: string;
  readonly regional?: Handler["regional"];
  readonly autoName?: Handler["autoName"];
  readonly failed?: Handler["failed"];
  readonly deleteBeforeReplace?: true;
  validate?(inputs: Partial<I>): { property: string; reason: string }[];
  importId?: Handler["importId"];
}

/** Types the calls of a definition by its fields. */
export function define<const F extends Fields>(
  definition: Omit<Definition<InputsOf<F>>, "fields"> & { readonly fields: F },
): Handler {
  return handlerOf(definition as unknown as Definition<Properties>);
}

function handlerOf(definition: Definition<Properties>): Handler {
  const { token, fields, case: written = "pascal", states, tags, settings = [], crossplane } = definition;
  const { autoName, failed, deleteBeforeReplace, validate, importId, regional } = definition;
  const find = (aws: Aws, id: string, last: Properties = {}) => orGone(definition.find(aws, id, last));
  const tables = tablesOf(fields);

  const usable = async (aws: Aws, id: string, of: States): Promise<true | undefined> => {
    const item = await find(aws, id);
    const state = item && of.of(item);
    if (state !== undefined && of.usable.includes(state)) return true;
    if (state !== undefined && of.pending.includes(state)) return undefined;
    throw new Error(`${of.what} ${id} is ${state ?? "gone"}: ${(item && of.reason?.(item)) || "no reason given"}`);
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

  const syncTagsOf = async (aws: Aws, id: string, calls: TagCalls, change: Change<Properties>): Promise<void> => {
    const target = async () => (calls.target ? calls.target((await find(aws, id)) ?? {}) : id);
    await syncTags(
      change,
      async (changed) => calls.set(aws, await target(), changed),
      async (keys) => calls.remove(aws, await target(), keys),
    );
  };

  const update = async (aws: Aws, id: string, change: Change<Properties>): Promise<void> => {
    for (const { fields: names, call, settles } of settings) {
      if (!change.has(...names)) continue;
      await call(aws, id, change.new, change);
      if (settles) await ready?.(aws, id);
    }
    if (tags) await syncTagsOf(aws, id, tags, change);
  };

  return {
    token,
    definition: { fields, case: written, ...(crossplane && { crossplane }) },
    ...tables,
    ...(tags && { tagged: true }),
    ...(regional === false && { regional }),
    ...(autoName && { autoName }),
    ...(failed && { failed }),
    ...(deleteBeforeReplace && { deleteBeforeReplace }),
    ...(validate && { validate }),
    ...(importId && { importId }),
    ...(ready && { ready }),

    async create(aws, inputs) {
      const all = (inputs["tagsAll"] ?? {}) as Tags;
      const tagged = tags && Object.keys(all).length > 0 ? tags.request(all) : {};
      const id = await definition.create(aws, { ...requestOf(fields, inputs, written), ...tagged }, inputs);
      return finishing(id, async (made) => {
        await ready?.(aws, made);
        for (const { call, initially } of settings)
          if (initially?.(inputs)) await call(aws, made, inputs, { old: {}, has: () => true });
      });
    },

    async read(aws, id, last) {
      const found = await find(aws, id, last);
      if (!found || isLeaving(found)) return null;
      const item = { ...found, ...(await definition.also?.(aws, id, found)) };
      const properties = propertiesOf(fields, item, { aws, id, last }, written);
      return tags ? { ...properties, tagsAll: await tags.of(aws, id, item) } : properties;
    },

    ...((tags || settings.length > 0) && { update }),

    async delete(aws, id, last) {
      try {
        await definition.delete(aws, id, last);
      } catch (error) {
        // A deletion that runs already (an interrupted destroy) is waited for.
        const item = isGone(error) ? undefined : await find(aws, id, last);
        if (item && !isLeaving(item)) throw error;
      }
      const what = states?.what ?? definition.lingers;
      if (what) await gone(aws, id, what);
    },
  };
}

/** An id of inputs with a separator between them. */
export const joined =
  (separator: string, ...names: string[]) =>
  (inputs: Properties): string | undefined => {
    const parts = names.map((name) => inputs[name]);
    return parts.some((part) => part === undefined) ? undefined : parts.join(separator);
  };
