/** Arguments of the components: what the stand-in honours. Everything else is refused, never ignored. */

/** One mistake in the arguments. */
export interface ArgumentError {
  readonly property: string;
  readonly reason: string;
}

/** @throws one error that names every mistake. */
export function refuse(token: string, name: string, errors: readonly ArgumentError[]): void {
  if (errors.length === 0) return;
  const list = errors.map(({ property, reason }) => `  - ${property}: ${reason}`).join("\n");
  throw new Error(`${token} ${name} has arguments that cannot be used:\n${list}`);
}

/** Arguments that were given but are not honoured. */
export function notHonoured(args: object, honoured: readonly string[], prefix = ""): ArgumentError[] {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null);
  return given
    .filter(([property]) => !honoured.includes(property))
    .map(([property]) => ({
      property: prefix + property,
      reason: `not implemented by the stand-in; implemented: ${honoured.join(", ")}. Leave it out, or use the official plugin (FLEET_PULUMI_PLUGINS=official)`,
    }));
}
