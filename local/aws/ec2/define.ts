/** EC2's regularity: Create…, Describe…s by ids, Delete… by id, tags in TagSpecifications. */
import {
  CreateTagsCommand,
  DeleteTagsCommand,
  type DescribeTagsCommand,
  EC2Client,
  type ResourceType,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import type { Field, Fields, InputsOf, Item } from "../define/fields.ts";
import { capital } from "../define/mapping.ts";
import { type Definition, define, pairTags, type TagCalls } from "../define/resource.ts";
import type { Handler } from "../handler.ts";
import type { Properties } from "../properties.ts";
import { tagPairs } from "../tags.ts";

export const api = (aws: Aws) => aws.client(EC2Client);

/** A command of the EC2 client. */
export type Command = new (input: never) => object;

export const send = async (aws: Aws, Command: Command, input: Item): Promise<Item> =>
  (await api(aws).send(new Command(input as never) as DescribeTagsCommand)) as unknown as Item;

export const ec2Tags = (type: ResourceType): TagCalls => ({
  ...pairTags(
    (aws, id, Tags) => api(aws).send(new CreateTagsCommand({ Resources: [id], Tags })),
    (aws, id, keys) => api(aws).send(new DeleteTagsCommand({ Resources: [id], Tags: keys.map((Key) => ({ Key })) })),
  ),
  request: (tags) => ({ TagSpecifications: [{ ResourceType: type, Tags: tagPairs(tags) }] }),
});

/** An ARN that EC2 doesn't give: of the owner that it names, or of the caller's account. */
export const arnOf = (type: string): Field => ({
  out: true,
  get: ({ OwnerId: owner }, { aws, id }) =>
    owner && `arn:${aws.partition}:ec2:${aws.region}:${owner as string}:${type}/${id}`,
});

/** An array in an answer. */
export const list = (value: unknown): Record<string, unknown>[] => (value ?? []) as Record<string, unknown>[];

interface Ec2Definition<F extends Fields> extends Partial<Omit<Definition<InputsOf<F>>, "token" | "fields" | "tags">> {
  readonly token: string;
  readonly fields: F;
  /** Its type in tags. */
  readonly tag: ResourceType;
  /** The word for it in the calls, `Subnet`: its id is `SubnetId`, the answers have `Subnet` and `Subnets`. */
  readonly noun: string;
  readonly calls: { readonly create: Command; readonly describe: Command; readonly delete: Command };
  /** Inputs that the creation does not take: one each in a call, as `{ Value }`. */
  readonly attributes?: { readonly call: Command; readonly names: readonly (keyof F & string)[] };
}

/** A resource whose calls follow the rule; what does not is given by itself. */
export function ec2<const F extends Fields>(definition: Ec2Definition<F>): Handler {
  const { noun, tag, calls, attributes, settings = [], ...rest } = definition;
  const idName = `${noun}Id`;
  const names = attributes?.names ?? [];
  const attributeSettings = names.map((name) => ({
    fields: [name],
    // An attribute that the program no longer sets stays as it is.
    call: async (aws: Aws, id: string, inputs: Properties) =>
      inputs[name] === undefined ||
      (await send(aws, attributes?.call as Command, { [idName]: id, [capital(name)]: { Value: inputs[name] } })),
    initially: (inputs: Properties) =>
      inputs[name] !== undefined && inputs[name] !== (rest.fields[name]?.default ?? false),
  }));
  return define({
    async create(aws: Aws, request: Item) {
      const made = Object.entries(request).filter(([name]) => !names.some((attribute) => capital(attribute) === name));
      const answer = await send(aws, calls.create, Object.fromEntries(made));
      return (answer[noun] as Record<string, string> | undefined)?.[idName];
    },
    async find(aws: Aws, id: string) {
      const answer = await send(aws, calls.describe, { [`${idName}s`]: [id] });
      return list(answer[`${noun}s`])[0];
    },
    delete: (aws: Aws, id: string) => send(aws, calls.delete, { [idName]: id }),
    ...rest,
    tags: ec2Tags(tag),
    settings: [...settings, ...attributeSettings],
  } as Parameters<typeof define>[0]);
}
