import type { Bench } from "./bench.ts";
import { seconds } from "./report.ts";

/** How long each phase of `npm start` takes, and its share. */
export const start: Bench = {
  title: "From npm start to the hub with all pods Ready, toolchain cached",
  run: async ({ timings }) => {
    const all = [...timings.values()].reduce((sum, time) => sum + time, 0);
    const row = (name: string, time: number) => [name, seconds(time), `${((100 * time) / all).toFixed(0)} %`];
    return { rows: [...[...timings].map(([name, time]) => row(name, time)), row("together", all)] };
  },
};
