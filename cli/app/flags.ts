import type { Problem } from "../../lib/problems.ts";

/** Problems of flags that belong to another one. */

/** Those of flags that are given without `owner`. @param allowed with which value it may be given */
export const unusedProblems = (
  given: Readonly<Record<string, string | undefined>>,
  owner: string,
  allowed: string,
): Problem[] =>
  Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([key]) => ({
      key,
      what: `has no effect without ${owner}`,
      got: "(given)",
      allowed,
      remedy: `add ${owner}, or leave it out`,
    }));

/** Those of a file with an access token of the team, whose content is never shown. */
export function tokenProblems(key: string, token: string | undefined, owner: string, remedy: string): Problem[] {
  if (token !== undefined && /^\S+$/.test(token.trim())) return [];
  return [
    {
      key,
      what:
        token === undefined
          ? `is missing: Flux needs a token of the team for ${owner}`
          : "is not a file with one access token",
      got: token === undefined ? "(nothing)" : "(not shown)",
      allowed: "a file with one line, an access token",
      remedy,
    },
  ];
}
