import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { appQuestion, demo, type LocalFleet } from "@eks-gitops-fleet/local/cli";
import { bareRepository, commitTo } from "@eks-gitops-fleet/local/git";
import { run } from "@eks-gitops-fleet/local/instance";
import { ask } from "../cli/app/ask.ts";
import { adminOf, spokeCluster } from "./cluster.ts";
import { seconds } from "./report.ts";
import { median } from "./statistics.ts";

/** Commits that are measured; their medians count. */
const ROUNDS = 5;
/** Most that one may take. */
const LIMIT = "--timeout=300s";
/** What the application greets with, where its Deployment has it. */
const GREETING = /(name: PODINFO_UI_MESSAGE\n\s+value: ).*/;

/** Has the application greet with another text; gives the time just before the push. */
async function push(fleet: LocalFleet, greeting: string): Promise<number> {
  let pushed = 0;
  await commitTo(bareRepository(fleet.instance(), demo.appRepository), `Greet with ${greeting}`, async (checkout) => {
    const file = join(checkout, "base", "deployment.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace(GREETING, `$1${greeting}`));
    pushed = performance.now();
  });
  return pushed;
}

/** Milliseconds from one push until the spoke's Deployment has the change, and until a pod with it answers. */
async function follow(fleet: LocalFleet, spoke: string, greeting: string) {
  const kubectl = adminOf(fleet, spokeCluster(spoke));
  const { namespace, service } = appQuestion;
  const deployment = [`deployment/${service}`, "--namespace", namespace, LIMIT];
  const pushed = await push(fleet, greeting);
  const value = `jsonpath={.spec.template.spec.containers[0].env[?(@.name=="PODINFO_UI_MESSAGE")].value}=${greeting}`;
  await run([...kubectl, "wait", ...deployment, `--for=${value}`]);
  const applied = performance.now() - pushed;
  await run([...kubectl, "rollout", "status", ...deployment]);
  const { message } = JSON.parse(await ask(kubectl, appQuestion));
  if (message !== greeting) throw new Error(`after the rollout a pod answers "${message}" instead of "${greeting}"`);
  return { applied, answers: performance.now() - pushed };
}

/** How long a change of the application takes from its push to a spoke that Git's webhook tells of it. */
export async function changesOfApp(fleet: LocalFleet, spoke: string, report: (line: string) => void) {
  await run([join(fleet.instance().paths.bin, "webhooks")]);
  const measured: Awaited<ReturnType<typeof follow>>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times = await follow(fleet, spoke, `benchmark-${round}`);
    report(
      `a change of the application: applied after ${seconds(times.applied)}, answers after ${seconds(times.answers)}`,
    );
    measured.push(times);
  }
  const row = (what: string, of: (times: (typeof measured)[number]) => number) => [
    `a change of the application (median of ${ROUNDS} pushes): ${what}`,
    seconds(median(measured.map(of))),
  ];
  return [
    row("the spoke's Deployment has it", ({ applied }) => applied),
    row("a pod with it answers HTTP", ({ answers }) => answers),
  ];
}
