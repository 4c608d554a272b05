/** Inputs before they are used: policies as texts, mistakes. */
import { type Handler, isEmpty, samePolicy } from "../../aws/index.ts";
import {
  type CheckFailure,
  hasSecret,
  hasUnknown,
  isMap,
  type PropertyMap,
  plain,
  reveal,
  revealMap,
  Secret,
  UNKNOWN,
  type Value,
} from "../framework/index.ts";

/** Inputs that hold an IAM policy document. */
export const policyInputs = (handler: Handler): string[] =>
  Object.entries(handler.compare ?? {}).flatMap(([name, equality]) => (equality === samePolicy ? [name] : []));

/** The SDK also takes a policy as an object; AWS and the state have the text. */
export function withPolicyTexts(handler: Handler, inputs: PropertyMap): PropertyMap {
  const texts = policyInputs(handler)
    .filter((name) => isMap(reveal(inputs[name] ?? null)))
    .map((name) => [name, policyText(inputs[name] as Value)] as const);
  return { ...inputs, ...Object.fromEntries(texts) };
}

function policyText(document: Value): Value {
  const text = hasUnknown(document) ? UNKNOWN : JSON.stringify(plain(document));
  return hasSecret(document) ? new Secret(text) : text;
}

/** Mistakes that AWS would refuse. */
export function failuresOf(handler: Handler, inputs: PropertyMap): CheckFailure[] {
  // Unknown values are checked in the update, when they are known.
  return hasUnknown(inputs) ? [] : (handler.validate?.(revealMap(inputs)) ?? []);
}

/** Inputs that the program leaves unset and AWS does not fill in, but that have a value: somebody else set them (drift). */
export function setBeside(handler: Handler, recorded: PropertyMap, outputs: PropertyMap): PropertyMap {
  const expected = [...(handler.computed ?? []), ...(handler.unread ?? []), ...Object.keys(handler.defaults ?? {})];
  const names = handler.inputs.map((path) => path.split(".")[0] as string);
  const found = names.filter(
    (name) => !(name in recorded) && !expected.includes(name) && !isEmpty(reveal(outputs[name] ?? null)),
  );
  return Object.fromEntries(found.map((name) => [name, outputs[name] as Value]));
}
