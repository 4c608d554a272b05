/** What differs between a wanted resource and the one that AWS has. */
import { isBlock, isEmpty } from "./compare.ts";
import type { Handler } from "./handler.ts";
import { sameInput } from "./lifecycle.ts";
import type { Properties } from "./properties.ts";

export interface Difference {
  /** Names of inputs (and `tagsAll`) that differ. */
  readonly changed: readonly string[];
  /** Paths of those that can't be changed on an existing resource. */
  readonly immutable: readonly string[];
  /** The inputs as they are now, in the form of the wanted ones. */
  readonly before: Properties;
  /** The inputs as they are to be. */
  readonly after: Properties;
}

/** The actual value without what AWS added: of a block the wanted members, of a list the wanted form of each equal item. */
function inWantedForm(handler: Handler, path: string, wanted: unknown, actual: unknown): unknown {
  if (isBlock(wanted) && isBlock(actual))
    return Object.fromEntries(
      Object.keys(wanted).map((name) => [name, inWantedForm(handler, `${path}.${name}`, wanted[name], actual[name])]),
    );
  if (Array.isArray(wanted) && Array.isArray(actual))
    return actual.map((item: unknown) => {
      const same = (other: unknown) =>
        isBlock(other) && sameInput(handler, path, other, inWantedForm(handler, path, other, item));
      return wanted.find(same) ?? item;
    });
  return actual;
}

const valueAt = (properties: Properties, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (isBlock(value) ? value[name] : undefined), properties);

/**
 * Compares wanted inputs with what AWS has: those in `names`. Inputs that AWS fills in count only where they are wanted, and
 * those that it doesn't give back never.
 */
export function differenceOf(
  handler: Handler,
  names: readonly string[],
  wanted: Properties,
  actual: Properties,
): Difference {
  const before: Properties = { ...wanted };
  const after: Properties = { ...wanted };
  const changed: string[] = [];
  for (const name of names) {
    if (handler.unread?.includes(name)) continue;
    // Terraform lets the value of AWS stand against an empty text too (terraform-plugin-sdk, helper/schema/schema.go, finalizeDiff).
    if ((wanted[name] === undefined || wanted[name] === "") && handler.computed?.includes(name)) {
      before[name] = after[name] = actual[name];
      continue;
    }
    before[name] = inWantedForm(handler, name, wanted[name], actual[name]);
    const same =
      wanted[name] === undefined ? isEmpty(before[name]) : sameInput(handler, name, wanted[name], before[name]);
    if (!same) changed.push(name);
  }
  const immutable = (handler.update ? handler.replaceOn : changed).filter((path) => {
    const value = valueAt(wanted, path);
    if (!changed.includes(path.split(".")[0] as string)) return false;
    return value !== undefined && !sameInput(handler, path, value, valueAt(before, path));
  });
  return { changed, immutable, before, after };
}
