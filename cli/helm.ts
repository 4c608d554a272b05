/**
 * Forms of the values that a manifest may put on helm's command line: an argument that begins with - is an option (--post-renderer runs a
 * program), and helm takes a chart that is a path for a directory of this machine.
 */
const forms = {
  name: /^[a-z0-9][a-z0-9.-]*$/,
  namespace: /^[a-z0-9][a-z0-9-]*$/,
  chart: /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/,
  version: /^[\w.+*^~<>=][\w.+*^~<>=|, -]*$/,
  repository: /^(https|oci):\/\/[^\s/-]\S*$/,
} as const;

export interface Unfit {
  readonly member: keyof typeof forms;
  readonly value: unknown;
  /** Source of the regular expression that the value must match. */
  readonly form: string;
}

/** Returns the members that can't be passed to helm. */
export function unfitForHelm(values: Partial<Readonly<Record<keyof typeof forms, unknown>>>): Unfit[] {
  return (Object.keys(forms) as (keyof typeof forms)[])
    .filter((member) => Object.hasOwn(values, member))
    .map((member) => ({ member, value: values[member], form: forms[member].source }))
    .filter(({ member, value }) => typeof value !== "string" || !forms[member].test(value));
}
