import type { Stage } from "./result.ts";

/** Most that something may take in the largest fleet, as a multiple of what it takes in the smallest one, or in the one before. */
const limits = [
  { what: "processor time for one more spoke", of: ({ each }: Stage) => each.cpu, limit: 1.5, than: "before" },
  { what: "API requests for one more spoke", of: ({ each }: Stage) => each.requests, limit: 1.5, than: "before" },
  { what: "push to Spoke, the first by name", of: ({ first }: Stage) => first.took, limit: 1.3, than: "smallest" },
  { what: "push to Spoke, the last by name", of: ({ last }: Stage) => last.took, limit: 1.3, than: "smallest" },
] as const;

/** How the largest fleet compares, and the limits that it exceeds. One spoke is mostly the hub's own cost, hence "before". */
export function growth(stages: readonly Stage[]): { rows: string[][]; exceeded: string[] } {
  const [smallest] = stages;
  const [before, many] = stages.slice(-2);
  if (smallest === undefined || before === undefined || many === undefined) return { rows: [], exceeded: [] };
  const compared = limits.map(({ what, of, limit, than }) => {
    const few = than === "smallest" ? smallest : before;
    return { words: `${many.size} spokes against ${few.size}: ${what}`, limit, ratio: of(many) / of(few) };
  });
  return {
    rows: compared.map(({ words, ratio }) => [words, ratio.toFixed(2)]),
    exceeded: compared
      .filter(({ ratio, limit }) => ratio > limit)
      .map(({ words, ratio, limit }) => `${words} is ${ratio.toFixed(2)} times, limit ${limit}`),
  };
}
