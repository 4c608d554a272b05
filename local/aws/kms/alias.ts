import { CreateAliasCommand, DeleteAliasCommand, paginateListAliases, UpdateAliasCommand } from "@aws-sdk/client-kms";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { resource } from "../handler.ts";

interface Inputs {
  name: string;
  targetKeyId: string;
}

async function find(aws: Aws, name: string) {
  for await (const page of paginateListAliases({ client: aws.kms }, {}))
    for (const alias of page.Aliases ?? []) if (alias.AliasName === name) return alias;
  return undefined;
}

const keyId = (idOrArn: unknown): unknown =>
  typeof idOrArn === "string" ? idOrArn.replace(/^arn:.*:key\//, "") : idOrArn;

export const alias = resource<Inputs>({
  token: "aws:kms/alias:Alias",
  inputs: ["name", "targetKeyId"],
  replaceOn: ["name"],
  autoName: { property: "name", maxLength: 256 },
  // The key may be given by id or ARN.
  compare: { targetKeyId: (a, b) => keyId(a) === keyId(b) },

  validate({ name }) {
    if (name === undefined || /^alias\/(?!aws\/)[\w/-]+$/.test(name)) return [];
    return [
      { property: "name", reason: `"${name}" is not an alias name: it is of the form alias/<name>, not alias/aws/…` },
    ];
  },

  async create(aws, inputs) {
    await aws.kms.send(new CreateAliasCommand({ AliasName: inputs.name, TargetKeyId: inputs.targetKeyId }));
    return inputs.name;
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    const targetKeyArn = actual.AliasArn?.replace(/:alias\/.*$/, `:key/${actual.TargetKeyId}`);
    return { arn: actual.AliasArn, name: actual.AliasName, targetKeyArn, targetKeyId: actual.TargetKeyId };
  },

  async update(aws, id, change) {
    await aws.kms.send(new UpdateAliasCommand({ AliasName: id, TargetKeyId: change.new.targetKeyId }));
  },

  async delete(aws, id) {
    await orGone(aws.kms.send(new DeleteAliasCommand({ AliasName: id })));
  },
});
