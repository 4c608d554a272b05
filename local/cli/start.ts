// `npm start`: brings up the hub of the local stack and a spoke on it, or brings them to the present state of the checkout.
// `-- --hub-only` leaves the spoke out; `-- --git token` or `--git github-app` has the clusters read Git over HTTPS,
// `-- --charts oci` has them take charts from an OCI registry, `-- --charts private` charts, images and packages from a private one;
// `-- --cloud-only` brings an instance of an earlier version the embedded cloud and the packages of this checkout and nothing else;
// `-- --addons external_dns,cert_manager` builds what these add-ons take, which are off by default.
import { join } from "node:path";
import { bareRepository, hasPath } from "../git/index.ts";
import { defaultDir } from "../instance/index.ts";
import { alone, main } from "./command.ts";
import { demo } from "./demo.ts";
import { doorsOf } from "./doors.ts";
import type { LocalFleet } from "./fleet.ts";
import { spokesOf } from "./spokes.ts";
import { hubKubectl } from "./stack-steps.ts";
import { startOptions } from "./start-options.ts";
import { duration } from "./step-display.ts";
import { type Present, summary } from "./summary.ts";
import { bringUp } from "./up.ts";

async function presentIn({ instance, stack }: LocalFleet): Promise<Present> {
  const spokes = await spokesOf(await hubKubectl(instance(), stack));
  const workloads = bareRepository(instance(), "gitops-workloads");
  const names = spokes.map(({ metadata }) => metadata.name);
  const doors = await doorsOf(instance());
  return { spokes, doors, withApp: names.filter((name) => hasPath(workloads, join("clusters", name, demo.app))) };
}

await main(async () => {
  const options = startOptions(process.argv.slice(2));
  const dir = defaultDir();
  const started = performance.now();
  const { fleet } = await alone(dir, "npm start", () => bringUp(dir, "local", options));
  const said = options.cloudOnly
    ? "The embedded cloud and its packages are those of this checkout. Repositories, hub and spokes are as they were.\n"
    : summary(fleet.instance(), await presentIn(fleet));
  console.log(`${said}Started in ${duration(performance.now() - started)}.`);
  return 0;
});
