// `npm run status`: what runs and what is not as it should be. Exit code 0: all is well; 1: something isn't, or nothing runs.
import { defaultDir, findInstance, readText } from "../instance/index.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { differences } from "../toolchain/differences.ts";
import { main, underWay } from "./command.ts";
import { isSpokeReady, spokeLine, spokesOf } from "./spokes.ts";
import { clustersOf, fluxStates, hubKubectl, nodeStates, podStates } from "./stack-steps.ts";

const EVENTS_SHOWN = 5;

await main(async () => {
  const dir = defaultDir();
  const instance = await findInstance(dir);
  const busy = await underWay(dir);
  if (busy !== undefined) console.log(`${busy} is under way on ${dir}: what isn't ready yet may still come or go.\n`);
  if (instance === undefined) {
    console.log(`Nothing runs in ${dir}: npm start brings it up.`);
    return 1;
  }
  const faults: string[] = [];
  console.log(`Instance ${instance.index} in ${dir}\n\nProcesses`);
  const processes = await supervisorOf(instance).list();
  for (const { id, state, pid, restarts, message } of processes) {
    const note = message === undefined || state === "ready" ? "" : `  ${message}`;
    console.log(`  ${id.padEnd(32)} ${state.padEnd(9)} pid ${pid ?? "-"}  restarts ${restarts}${note}`);
    if (state !== "ready") faults.push(`process ${id} is ${state}`);
  }
  if (processes.length === 0) faults.push("no process runs: the supervisor is gone or nothing was started");

  const events = ((await readText(instance.paths.events)) ?? "").trimEnd().split("\n").slice(-EVENTS_SHOWN);
  if (events.some((line) => line !== ""))
    console.log(`\nLast events (${instance.paths.events})\n  ${events.join("\n  ")}`);

  try {
    console.log("\nClusters");
    for (const { name, version, status, endpoint } of await clustersOf(instance)) {
      console.log(`  ${name}  Kubernetes ${version}  ${status}  ${endpoint}`);
      if (status !== "ACTIVE") faults.push(`cluster ${name} is ${status}`);
    }
    const kubectl = await hubKubectl(instance, "local");
    const spokes = await spokesOf(kubectl);
    console.log(`\nSpokes${spokes.length === 0 ? ": none" : ""}`);
    for (const spoke of spokes) {
      console.log(`  ${spokeLine(spoke)}`);
      if (!isSpokeReady(spoke)) faults.push(`spoke ${spokeLine(spoke)}`);
    }
    for (const [title, states] of [
      ["Nodes", await nodeStates(kubectl)],
      ["Flux objects", await fluxStates(kubectl)],
      ["Pods", await podStates(kubectl)],
    ] as const) {
      const waiting = states.filter((state) => state !== undefined);
      console.log(
        `\n${title}: ${states.length - waiting.length} of ${states.length} Ready${waiting.map((state) => `\n  ${state}`).join("")}`,
      );
      faults.push(...waiting);
    }
  } catch (error) {
    faults.push(`the hub doesn't answer: ${error instanceof Error ? error.message : String(error)}`);
  }
  console.log("\nIn other versions than production");
  for (const { part, production, local } of differences())
    console.log(`  ${part}: ${local}; production: ${production}`);
  console.log(
    faults.length === 0
      ? "\nAll is well."
      : `\nNot as it should be:\n${faults.map((fault) => `- ${fault}`).join("\n")}`,
  );
  return faults.length === 0 ? 0 : 1;
});
