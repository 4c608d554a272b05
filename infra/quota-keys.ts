import { type CountedQuota, countedQuotas, quotas } from "../lib/quotas.ts";
import { fromJson, isRecord, type Key } from "./forms.ts";

const names = Object.keys(countedQuotas) as CountedQuota[];

const isQuota = ([name, most]: readonly [string, unknown]): boolean =>
  Object.hasOwn(countedQuotas, name) && Number.isInteger(most) && Number(most) > 0;

/** Quotas of the fleet's accounts that were raised. */
export const serviceQuotaKey: Key<Readonly<Partial<Record<CountedQuota, number>>>> = {
  parse: (value) => {
    const read = fromJson(value);
    return isRecord(read) && Object.entries(read).every(isQuota) ? read : undefined;
  },
  allowed: `an object with a whole number above 0 for any of ${names.map((name) => `${name} (${quotas[name].name})`).join(", ")}`,
  path: ".vpcs",
  example: "20",
};
