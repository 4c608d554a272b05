import { type CountedQuota, countedQuotas, quotas } from "../lib/quotas.ts";
import { fromJson, type Key } from "./forms.ts";

const names = Object.keys(countedQuotas) as CountedQuota[];

/** Quotas of the fleet's accounts that were raised. */
export const serviceQuotaKey: Key<Readonly<Partial<Record<CountedQuota, number>>>> = {
  parse: (value) => {
    const read = fromJson(value);
    if (typeof read !== "object" || read === null || Array.isArray(read)) return undefined;
    const isWhole = Object.entries(read).every(
      ([name, most]) => Object.hasOwn(countedQuotas, name) && Number.isInteger(most) && most > 0,
    );
    return isWhole ? read : undefined;
  },
  allowed: `an object with a whole number above 0 for any of ${names.map((name) => `${name} (${quotas[name].name})`).join(", ")}`,
  path: ".vpcs",
  example: "20",
};
