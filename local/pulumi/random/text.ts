/** Random texts by character class, as terraform-provider-random makes them. */
import { randomInt } from "node:crypto";

/** Which characters a text is made of. */
export interface TextRules {
  readonly length: number;
  readonly upper: boolean;
  readonly lower: boolean;
  readonly numeric: boolean;
  readonly special: boolean;
  readonly minUpper: number;
  readonly minLower: number;
  readonly minNumeric: number;
  readonly minSpecial: number;
  /** Special characters in place of {@link SPECIAL}. */
  readonly overrideSpecial: string;
}

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const SPECIAL = "!@#$%&*()-_=+[]{}<>:?";

/** A random text: the minimum of every class, the rest from all allowed classes, in random order. */
export function randomText(rules: TextRules): string {
  const classes = [
    { characters: UPPER, allowed: rules.upper, least: rules.minUpper },
    { characters: LOWER, allowed: rules.lower, least: rules.minLower },
    { characters: DIGITS, allowed: rules.numeric, least: rules.minNumeric },
    { characters: rules.overrideSpecial || SPECIAL, allowed: rules.special, least: rules.minSpecial },
  ];
  const allowed = classes.map((one) => (one.allowed ? one.characters : "")).join("");
  const needed = classes.flatMap(({ characters, least }) => pick(characters, least));
  return shuffle([...needed, ...pick(allowed, rules.length - needed.length)]).join("");
}

/** Why no text can be made by the rules, undefined when one can. */
export function impossible(rules: TextRules): { property: string; reason: string } | undefined {
  const needed = rules.minUpper + rules.minLower + rules.minNumeric + rules.minSpecial;
  if (!Number.isInteger(rules.length) || rules.length < 1)
    return { property: "length", reason: `got ${rules.length}, allowed is a whole number from 1` };
  if (rules.length < needed)
    return { property: "length", reason: `got ${rules.length}, but the minimum counts ask for ${needed} characters` };
  if (rules.length > needed && !(rules.upper || rules.lower || rules.numeric || rules.special))
    return { property: "upper", reason: "no character class is allowed: set one of upper, lower, numeric, special" };
  return undefined;
}

function pick(characters: string, count: number): string[] {
  return Array.from({ length: count }, () => characters[randomInt(characters.length)] as string);
}

function shuffle(items: string[]): string[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = randomInt(last + 1);
    [items[last], items[other]] = [items[other] as string, items[last] as string];
  }
  return items;
}
