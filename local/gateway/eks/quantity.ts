const UNITS: Readonly<Record<string, number>> = {
  ...{ "": 1, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 },
};

/** A quantity of Kubernetes as a number; 0 for none, NaN for a unit that it does not know. */
export function quantity(text = "0"): number {
  const [, digits = "0", unit = ""] = /^([0-9.]+(?:e[0-9]+)?)([A-Za-z]*)$/.exec(text) ?? [];
  return Number(digits) * (UNITS[unit] ?? Number.NaN);
}
