// Preloaded into every Node of a measured run: the one that is Pulumi's program writes how many milliseconds it lived.
import { writeFileSync } from "node:fs";

const { FLEET_BENCH_CLOCK: file = "" } = process.env;
if (process.argv[1]?.endsWith("/@pulumi/pulumi/cmd/run/index.js"))
  process.on("exit", () => writeFileSync(file, String(performance.now())));
