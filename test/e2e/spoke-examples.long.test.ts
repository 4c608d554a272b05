import { readdirSync, readFileSync } from "node:fs";
import { CreateRoleCommand, DeleteRoleCommand } from "@aws-sdk/client-iam";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { account, eventually, instance } from "./support/fleet.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { addSpoke, exists, removeSpoke, spoke, system, untilReady } from "./support/spokes.ts";

const folder = "functions/spoke/examples";
/** What needs more than a Spoke, by the test that makes it. */
const elsewhere: Readonly<Record<string, string>> = {
  "other-account.yaml": "spoke-accounts.long.test.ts",
  "shared-network.yaml": "spoke-networks.long.test.ts",
  "transit-gateway.yaml": "spoke-networks.long.test.ts",
};

const all = readdirSync(folder).map((file) => ({
  file,
  example: parse(readFileSync(`${folder}/${file}`, "utf8")) as Editable,
}));
const here = all.filter(({ file }) => elsewhere[file] === undefined);

/** The roles of people, which EKS lets in only where they are. */
const admins: readonly string[] = here.flatMap(({ example }) => example["spec"].admins ?? []);
const trust = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { AWS: "*" }, Action: "sts:AssumeRole" }],
};
const roleNames = admins.map((arn) => arn.split("/").at(-1) ?? "");

let repository: Checkout;
beforeAll(async () => {
  for (const RoleName of roleNames)
    await account.iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: JSON.stringify(trust) }));
  await prepareAddons(
    instance,
    here.flatMap(({ example }) => example["spec"].addons ?? []),
  );
  repository = await system();
});

afterAll(async () => {
  for (const RoleName of roleNames) await account.iam.send(new DeleteRoleCommand({ RoleName }));
});

let added: string | undefined;
/** Removes the example, also where its test failed. */
async function remove(name: string): Promise<void> {
  const protectedUntilNow = (await spoke(name)).spec.deletionProtection === true;
  if (protectedUntilNow) {
    await repository.edit(`spokes/fleet/${name}/spoke.yaml`, (edited) => {
      edited["spec"].deletionProtection = false;
      return edited;
    });
    await repository.push(`Let ${name} be removed`);
    // Flux may skip a commit: the hub refuses to remove what is protected there.
    await eventually(120, async () => expect((await spoke(name)).spec.deletionProtection).toBe(false));
  }
  await removeSpoke(repository, name);
  added = undefined;
}
afterEach(async () => {
  if (added !== undefined && (await exists(added))) await remove(added);
});

test.each(here)(
  "a Spoke as in $file comes up as it is written there, and goes without leaving anything",
  async ({ example }) => {
    const { metadata, spec } = example;
    await addSpoke(repository, metadata.name, spec.environment, (made) => ({ ...made, metadata, spec }));
    await repository.push(`Add spoke ${metadata.name}`);
    added = metadata.name;
    await untilReady(metadata.name, 900);
    expect((await spoke(metadata.name)).spec).toMatchObject(spec);
    await remove(metadata.name);
    expect(await spokeInventory("fleet", metadata.name)).toEqual([]);
  },
  2_400_000,
);
