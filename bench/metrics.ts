/** Metrics in Prometheus' text format. */

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The sum of a counter over all its labels, in the text of a metrics endpoint. */
export function counter(metrics: string, name: string): number {
  const values = [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].map(([, value]) =>
    Number(value),
  );
  if (values.length === 0) throw new Error(`the metrics have no counter ${name}`);
  return sum(values);
}
