import * as pulumi from "@pulumi/pulumi";
import { userError } from "../components/user-error.ts";
import { describeProblems, type Problem } from "../lib/problems.ts";
import { allowedAccounts } from "./account-keys.ts";
import { type RawConfig, readKey, readKeys } from "./config.ts";
import { type Key, setCommandOf } from "./forms.ts";

/** The configuration of the projects below infra/, which have stacks of their own. */

export type SettingsOf<K> = { readonly [N in keyof K]: K[N] extends Key<infer T> ? T : never };

export interface Read<K> {
  readonly settings: Partial<SettingsOf<K>>;
  /** The value of `aws:allowedAccountIds`. */
  readonly accounts: readonly string[];
  readonly problems: readonly Problem[];
}

/** With the credentials of a wrong account, its roles would be granted there. */
function accountRule(raw: RawConfig): { readonly accounts: readonly string[]; readonly problems: Problem[] } {
  const name = "allowedAccountIds";
  const { problem, value: accounts = [] } = readKey({ ...raw, project: "aws" }, name, allowedAccounts);
  if (problem === undefined && accounts.length > 0) return { accounts, problems: [] };
  const { allowed } = allowedAccounts;
  const found = problem ?? { what: "is empty", got: "[]", allowed };
  const remedy = setCommandOf(`aws:${name}`, allowedAccounts);
  return { accounts, problems: [{ ...found, key: `aws:${name}`, remedy }] };
}

/** Reads all keys of a project; the settings are complete if there are no problems. */
export function readOwnKeys<K extends Readonly<Record<string, Key<unknown>>>>(raw: RawConfig, keys: K): Read<K> {
  const { values, problems } = readKeys(raw, keys);
  const account = accountRule(raw);
  const unknown = Object.keys(raw.values)
    .filter((key) => key.startsWith(`${raw.project}:`))
    .map((key) => key.slice(raw.project.length + 1))
    .filter((name) => !Object.hasOwn(keys, name))
    .map((name) => ({
      key: name,
      what: "is not a key of this project",
      got: name,
      allowed: Object.keys(keys).join(", "),
      remedy: `pulumi config rm ${name}`,
    }));
  return {
    settings: values as Partial<SettingsOf<K>>,
    accounts: account.accounts,
    problems: [...unknown, ...account.problems, ...problems],
  };
}

/**
 * The settings of the stack that runs.
 * @throws a user error that lists every problem, before any resource is registered.
 */
export function loadOwnSettings<S>(
  read: (raw: RawConfig) => { settings: Partial<S>; problems: readonly Problem[] },
): S {
  const { settings, problems } = read({
    project: pulumi.getProject(),
    values: pulumi.runtime.allConfig(),
    isSecret: () => false,
    region: pulumi.runtime.getConfig("aws:region"),
  });
  if (problems.length === 0) return settings as S;
  throw userError(describeProblems(`the configuration of stack ${pulumi.getStack()}`, problems));
}
