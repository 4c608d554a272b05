/** A value that nobody can change, so that several may share it. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value))
    for (const member of Object.values(Object.freeze(value))) frozen(member);
  return value;
}
