/** The name of a kind in URLs, as Kubernetes forms it. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(name)) return `${name}es`;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}
