import { expect, test } from "vitest";
import { traces } from "./base64-traces.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const secret = "k3v-Zq_81xWm4Lr0TbnYcUe2";
const isSeen = (text: string) => traces(secret).some((trace) => text.includes(trace));

test.each(["", "a", "ab", "abc"])("a secret after %j is seen as it is, in base64 and in base64 of base64", (before) => {
  const text = `${before}${secret} and more`;
  for (const seen of [text, base64(text), base64(`"${before}${base64(text)}"`)]) expect(isSeen(seen)).toBe(true);
});

test("what does not hold the secret shows no trace of it", () => {
  const other = secret.split("").reverse().join("");
  for (const text of [other, base64(other), base64(base64(other)), base64(secret.slice(0, 12))])
    expect(isSeen(text)).toBe(false);
});
