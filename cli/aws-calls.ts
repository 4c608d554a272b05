import type { Tag } from "@aws-sdk/client-ec2";
import { clusterTag, fleetTag, type Tags } from "../lib/labels.ts";
import { isDenied, isMissing, isNoLogin, logIn } from "./doctor/aws.ts";

/** Calls of AWS by commands that end with the first one that AWS does not answer. */

/**
 * Gives a function that makes a call, which needs the right `action`.
 * @param policy the file with all rights that the command needs
 * @throws Error that says what to do about a call that AWS did not answer
 */
export const asking =
  (policy: string, then = "Nothing was changed") =>
  async <T>(action: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      const { name, message } = error as Error;
      const remedy = isDenied(error)
        ? `Allow this identity ${action}: ${policy} has all that is asked for`
        : isNoLogin(error)
          ? `Get credentials: ${logIn}`
          : "Correct this, then run it again";
      throw new Error(`AWS did not answer ${action}: ${name}: ${message}. ${remedy}. ${then}`, { cause: error });
    }
  };

/** Makes a call, and says which file has the rights where AWS refuses it. */
export type Ask = ReturnType<typeof asking>;

/** What a call gives; undefined where AWS says that there is no such resource. */
export const unlessMissing = <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: unknown) => (isMissing(error) ? undefined : Promise.reject(error)));

/** The items of all pages. */
export async function all<Page, Item>(pages: AsyncIterable<Page>, items: (page: Page) => readonly Item[] | undefined) {
  const found: Item[] = [];
  for await (const page of pages) found.push(...(items(page) ?? []));
  return found;
}

/** Tags of EC2 by their keys. */
export const tagsOf = (tags: readonly Tag[] | undefined): Tags =>
  Object.fromEntries((tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));

/** Whether something carries the tags of a cluster of a fleet. */
export const isTaggedFor = (
  { fleet, cluster }: { readonly fleet: string; readonly cluster: string },
  tags: Tags = {},
): boolean => tags[clusterTag] === cluster && tags[fleetTag] === fleet;
