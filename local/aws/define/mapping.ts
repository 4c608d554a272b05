/** Between the properties of a resource and AWS's requests and answers, by its fields. */
import { isBlock } from "../compare.ts";
import type { Properties } from "../properties.ts";
import { type Fields, type Item, membersOf, type Source, typeOf } from "./fields.ts";

/** How a service writes the names of members: `VpcId` (EC2, IAM, KMS …) or `vpcId` (EKS, CloudWatch Logs). */
export type Case = "pascal" | "camel";

/** A name with a capital at its beginning. */
export const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const apiName = (name: string, written: Case): string => (written === "pascal" ? capital(name) : name);

/** The members of a request for inputs; what is not set, and what AWS alone sets, is absent. */
export function requestOf(fields: Fields, inputs: Item, written: Case): Item {
  const members = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    const { api = apiName(name, written), put, out } = field;
    const value = inputs[name];
    if (out || api === null || value === undefined || value === null) return [];
    if (put) return [[api, put(value as never)]];
    const inner = membersOf(field);
    if (inner && Array.isArray(value)) return [[api, value.map((item: Item) => requestOf(inner, item, written))]];
    return [[api, inner && isBlock(value) ? requestOf(inner, value, written) : value]];
  });
  return Object.fromEntries(members);
}

/** The properties of an item; what AWS leaves out, or answers with an empty text, is absent. */
export function propertiesOf(fields: Fields, item: Item, source: Source, written: Case): Properties {
  const properties = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    const { api = apiName(name, written), get, default: value } = field;
    const found = get ? get(item, source) : api === null ? undefined : item[api];
    const inner = membersOf(field);
    const shown = (one: unknown): unknown => {
      if (one instanceof Date) return one.toISOString();
      return inner && isBlock(one) && !get ? propertiesOf(inner, one, source, written) : one;
    };
    const result = Array.isArray(found) ? found.map(shown) : shown(found);
    if (result === undefined || result === null || result === "")
      return typeOf(field) === "boolean" && value === false && !field.unread ? [[name, false]] : [];
    return [[name, result]];
  });
  return Object.fromEntries(properties);
}
