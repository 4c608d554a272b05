import { fits } from "./bridge-forms.ts";
import { bridgeKeys, contractOf } from "./bridge-keys.ts";
import type { Problem } from "./problems.ts";

/** What is wrong with the data of a bridge that comes from outside. No value is shown: it may be a secret that does not belong there. */

type Data = Readonly<Record<string, string>>;

const hidden = "(not shown)";

/** Keys that the contract does not have: what they hold is not known, so it may be a secret. */
export const unknownKeys = (data: Data): Problem[] =>
  Object.keys(data)
    .filter((key) => contractOf(key) === undefined)
    .map((key) => ({
      key,
      what: "is not in the contract of the bridge, and could be a secret",
      got: hidden,
      allowed: "the keys of docs/reference/contract.md",
      remedy: "use the version of this project that the stack was updated with, or run pulumi up with this one",
    }));

/** Keys that are missing, and values of another form than the contract's or with a credential. */
export function wrongFacts(data: Data): Problem[] {
  const missing = Object.values(bridgeKeys)
    .filter(({ key }) => data[key] === undefined)
    .map(({ key, form }) => ({
      key,
      what: "is missing",
      got: "(nothing)",
      allowed: form.is,
      remedy: "run pulumi up with this version of the project",
    }));
  const wrong = Object.entries(data).flatMap(([key, value]) => {
    const form = contractOf(key)?.form;
    if (form === undefined) return [];
    const hasCredential = /:\/\/[^\s/@]*:[^\s/]*@/.test(value);
    if (fits(form, value) && !hasCredential) return [];
    return {
      key,
      what: hasCredential ? "has a credential in its URL" : "has another form",
      got: hidden,
      allowed: form.is,
      remedy: "correct it in the config of the hub's stack, then pulumi up",
    };
  });
  return [...missing, ...wrong];
}
