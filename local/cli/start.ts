// `npm start`: brings up the hub of the local stack and a spoke on it, or brings them to the present state of the checkout.
// `-- --hub-only` leaves the spoke out; `-- --git token` or `--git github-app` has the clusters read Git over HTTPS,
// `-- --charts oci` has them take charts from an OCI registry.
import { defaultDir } from "../instance/index.ts";
import { alone, main } from "./command.ts";
import { startOptions } from "./start-options.ts";
import { duration } from "./steps.ts";
import { summary } from "./summary.ts";
import { bringUp } from "./up.ts";

await main(async () => {
  const options = startOptions(process.argv.slice(2));
  const { hubOnly } = options;
  const dir = defaultDir();
  const started = performance.now();
  const { fleet } = await alone(dir, "npm start", () => bringUp(dir, "local", options));
  console.log(`${summary(fleet.instance(), { hubOnly })}Started in ${duration(performance.now() - started)}.`);
  return 0;
});
