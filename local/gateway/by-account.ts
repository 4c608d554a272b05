/** A function of an account that makes its result once for each. */
export function byAccount<T>(make: (account: string) => T): (account: string) => T {
  const made = new Map<string, T>();
  return (account) => {
    const known = made.get(account) ?? make(account);
    made.set(account, known);
    return known;
  };
}
