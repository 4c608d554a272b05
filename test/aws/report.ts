import { estimate, type Use } from "./cost.ts";
import type { Tried } from "./steps.ts";

/** `75_000` ms as `1 min 15 s`. */
function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const dollars = (value: number) => value.toFixed(4);
const row = (...cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;

/** The proof as Markdown: how long each step took, and what was running costs by list prices. */
export function report(tried: readonly Tried[], uses: readonly Use[]): string {
  const { lines, total, unpriced } = estimate(uses);
  const steps = tried.map(({ name, took, passed }) => row(name, duration(took), passed ? "passed" : "**failed**"));
  const costs = lines.map(({ what, count, hours, price }) =>
    row(
      what,
      count,
      hours.toFixed(2),
      price === undefined ? "unknown" : price.toFixed(5),
      price === undefined ? "" : dollars(count * hours * price),
    ),
  );
  const missing = unpriced.length === 0 ? [] : [`Not in the sum, as lib/costs has no price: ${unpriced.join(", ")}.`];
  return [
    "## Proof on AWS",
    "",
    row("Step", "Time", ""),
    row("---", "--:", "---"),
    ...steps,
    row("**Together**", duration(tried.reduce((sum, { took }) => sum + took, 0)), ""),
    "",
    row("What ran", "Count", "Hours", "USD an hour", "USD"),
    row("---", "--:", "--:", "--:", "--:"),
    ...costs,
    row("**Estimate**", "", "", "", `**${dollars(total)}**`),
    "",
    "By list prices of us-east-1, without traffic, logs and requests, each hour by the second; the prices are those of lib/costs.",
    ...missing,
    "",
  ].join("\n");
}
