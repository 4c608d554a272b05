/**
 * A plugin of StrykerJS that leaves texts for people as they are: the tests hold the words that matter, and a score is about what
 * the code decides. What stands in a `${}` of such a text is part of it.
 */

interface NodePath {
  readonly node: {
    readonly type: string;
    readonly value?: unknown;
    readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
  };
}

/** Whether a text has several words; names, patterns and parts of ARNs have one. */
export function isMessage({ node }: NodePath): boolean {
  const { type, value, quasis = [] } = node;
  const texts = type === "StringLiteral" ? [String(value)] : quasis.map((part) => part.value.raw);
  return texts.some((text) => /[a-z,;:'] [a-z]/i.test(text));
}

export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "messages",
    value: { shouldIgnore: (path: NodePath) => (isMessage(path) ? "words for people" : undefined) },
  },
];
