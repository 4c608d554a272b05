import { clusterScopePrefix, fleetNames, hubSealingScope } from "../lib/names.ts";
import { duplicates, type Problem, shown } from "../lib/problems.ts";
import { spokeNameRule } from "../lib/spoke.ts";
import type { Readable } from "./settings.ts";

/** Rules about sealing keys: those that the stack makes, and those that no state has. */

type Keys = Pick<Readable, "sealingKeys">;

const nameOf = ({ scope, generation }: { readonly scope: string; readonly generation: string }): string =>
  `${scope}/${generation}`;

const scopesOf = (keys: readonly { readonly scope: string }[]): string[] => [
  ...new Set(keys.map(({ scope }) => scope)),
];

function generationRules({ sealingKeys = [] }: Keys): Problem[] {
  const twice = duplicates(sealingKeys.map(nameOf)).map((name) => ({
    key: "sealingKeys",
    what: "has a generation twice",
    got: name,
    allowed: "each generation of a scope once",
    remedy: "remove one of the two",
  }));
  const inactive = scopesOf(sealingKeys).flatMap((scope) => {
    const active = sealingKeys.filter((key) => key.scope === scope && key.active).map(({ generation }) => generation);
    if (active.length === 1) return [];
    return [
      {
        key: "sealingKeys",
        what:
          active.length === 0
            ? `has no active generation for scope ${scope}`
            : `has ${active.length} active generations for scope ${scope}`,
        got: active.length === 0 ? "active: false for each of them" : `active: ${active.join(", ")}`,
        allowed: "exactly one active generation in each scope",
        remedy: "set active: true for the newest generation and false for the others",
      },
    ];
  });
  return [...twice, ...inactive];
}

/** Scopes of single clusters begin with cluster-: no environment may, and the rest must be hub or a possible name of a spoke. */
function scopeRule({ environment = "", sealingKeys = [] }: Pick<Readable, "environment" | "sealingKeys">): Problem[] {
  const wrong = scopesOf(sealingKeys).filter(
    (scope) =>
      scope.startsWith(clusterScopePrefix) &&
      scope !== hubSealingScope &&
      !spokeNameRule.accepts(scope.slice(clusterScopePrefix.length)),
  );
  return [
    ...(environment.startsWith(clusterScopePrefix)
      ? [
          {
            key: "environment",
            what: "begins like the sealing scope of a single cluster",
            got: environment,
            allowed: `a name that does not begin with ${clusterScopePrefix}`,
            remedy: "choose another name",
          },
        ]
      : []),
    ...wrong.map((scope) => ({
      key: "sealingKeys",
      what: "has the scope of a cluster whose name is not allowed",
      got: scope,
      allowed: `an environment, ${hubSealingScope}, or ${clusterScopePrefix}<spoke> where the spoke's name is ${spokeNameRule.allowed}`,
      remedy: "name an environment, the hub or a spoke",
    })),
  ];
}

/** A former key is named like the stack's own, is none of them, and is of a scope that has one to seal with. */
function formerRules({ fleet, sealingKeys, formerSealingKeys = [] }: Readable): Problem[] {
  if (fleet === undefined || sealingKeys === undefined) return [];
  const problem = (what: string, got: string, allowed: string, remedy: string): Problem => ({
    ...{ key: "formerSealingKeys", what, got, allowed, remedy },
  });
  const own = sealingKeys.map(nameOf);
  const names = formerSealingKeys.map(nameOf);
  return [
    ...duplicates(names).map((name) =>
      problem("has a generation twice", name, "each generation of a scope once", "remove one of the two"),
    ),
    ...names
      .filter((name) => own.includes(name))
      .map((name) =>
        problem(
          "has a generation that the stack makes",
          name,
          "generations that are not in sealingKeys",
          "take it out of formerSealingKeys where this stack's state has the key, otherwise out of sealingKeys",
        ),
      ),
    ...scopesOf(formerSealingKeys)
      .filter((scope) => !scopesOf(sealingKeys).includes(scope))
      .map((scope) =>
        problem(
          "has a scope without a key that seals",
          scope,
          scopesOf(sealingKeys).join(", ") || "none: sealingKeys is empty",
          "add a generation of this scope to sealingKeys, or remove its former ones",
        ),
      ),
    ...formerSealingKeys.flatMap(({ scope, generation, arn }) => {
      const name = fleetNames(fleet).sealingKeySecret(scope, generation);
      // The name, and the six characters that Secrets Manager puts behind it.
      if (arn.split(":").slice(6).join(":").slice(0, -7) === name) return [];
      return problem(
        `has the ARN of another secret for ${scope}/${generation}`,
        shown(arn),
        `the ARN of the secret ${name}`,
        `aws secretsmanager describe-secret --secret-id ${name} --query ARN --output text`,
      );
    }),
  ];
}

export const sealingRules = (settings: Readable): Problem[] => [
  ...generationRules(settings),
  ...scopeRule(settings),
  ...formerRules(settings),
];
