import type { Denial } from "../lib/iam/company-denials.ts";
import { isRecord, listOf } from "./forms.ts";

/** A text, or a list of texts: IAM's grammar has both. */
function texts(value: unknown): string[] | undefined {
  const all = typeof value === "string" ? [value] : value;
  return Array.isArray(all) && all.length > 0 && all.every((each) => typeof each === "string" && each !== "")
    ? all
    : undefined;
}

/** A statement as IAM writes it. Its Sid is left out: it takes room, and must differ from those of the fleet's statements. */
function denial(value: unknown): Denial | undefined {
  if (!isRecord(value)) return undefined;
  const { Sid = "", Effect, Action, NotAction, Resource, Condition = {}, ...unknown } = value;
  const resources = texts(Resource);
  const actions = texts(Action ?? NotAction);
  const oneOfBoth = (Action === undefined) !== (NotAction === undefined);
  if (Effect !== "Deny" || typeof Sid !== "string" || !isRecord(Condition) || Object.keys(unknown).length > 0)
    return undefined;
  if (!oneOfBoth || actions === undefined || resources === undefined) return undefined;
  const rest = {
    Resource: resources,
    ...(Object.keys(Condition).length > 0 && { Condition: Condition as NonNullable<Denial["Condition"]> }),
  };
  return Action === undefined ? { Effect, NotAction: actions, ...rest } : { Effect, Action: actions, ...rest };
}

export const denialList = listOf(denial, {
  allowed:
    "a list of statements {Effect: Deny, Action or NotAction, Resource, Condition}: one that allows would give roles more than the fleet's boundaries do",
  path: "[0].Effect",
  example: "Deny",
});
