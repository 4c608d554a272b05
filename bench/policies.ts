// `npm run bench:policies`: how much longer a preview takes with the policy pack, in an instance without a cluster.
// A ratio of one run: machines differ. Ends with exit code 1 above the limit.

import { bringUpForPreview, cloudEnvironment, main, withTemporaryInstance } from "@eks-gitops-fleet/local/cli";
import type { Instance } from "@eks-gitops-fleet/local/instance";
import { runPulumi } from "@eks-gitops-fleet/local/pulumi";
import { duration, interleaved, median } from "./statistics.ts";

const ROUNDS = 7;
const STACK = "dev";
/** Most that a preview may take with the pack, as a multiple of one without. */
const LIMIT = 1.3;

/** A preview of the shipped program, in milliseconds. Rejects when it does not end as it must. */
const preview = (instance: Instance, flags: readonly string[], shows: string) => () =>
  duration(async () => {
    const args = ["preview", "--non-interactive", "--stack", STACK, ...flags];
    const env = cloudEnvironment(instance);
    const { code, stdout, stderr } = await runPulumi({ dir: instance.dir, args, env, onLine: () => {} });
    if (code !== 0 || !stdout.includes(shows))
      throw new Error(
        `pulumi ${args.join(" ")} ended with exit code ${code}, not with 0 and '${shows}':\n${stdout}\n${stderr}`,
      );
  });

await main(() =>
  withTemporaryInstance("fleet-bench-policies", STACK, async (dir) => {
    const instance = (await bringUpForPreview(dir, STACK)).instance();
    const times = await interleaved(ROUNDS, {
      plain: preview(instance, [], "to create"),
      checked: preview(instance, ["--policy-pack", "policies"], "✅ eks-gitops-fleet"),
    });
    const [plain, checked] = [median(times.plain), median(times.checked)];
    const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
    const ratio = checked / plain;
    console.log(
      `\nA preview of ${STACK} with the policy pack against one without, medians of ${ROUNDS} each, in turn:`,
    );
    console.log(`${ratio.toFixed(2)}   (${seconds(checked)} against ${seconds(plain)}), limit ${LIMIT}`);
    return ratio > LIMIT ? 1 : 0;
  }),
);
