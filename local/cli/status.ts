// `npm run status`: what runs, what is on its way and what is not as it should be, on the hub and every spoke. Exit code 0: all is
// well; 1: something isn't, or nothing runs; 2: something is not finished yet.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultDir, findInstance, type Instance, readText } from "../instance/index.ts";
import { fleetNames } from "../product.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { differences } from "../toolchain/differences.ts";
import { main, underWay } from "./command.ts";
import { doorsOf } from "./doors.ts";
import { type Kubectl, kubectlFor, objects } from "./flux.ts";
import {
  clusterNotes,
  commandNotes,
  hubNotes,
  type Note,
  objectNotes,
  processNotes,
  spokeNotes,
  verdict,
} from "./health.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { fleetNameOf } from "./pulumi.ts";
import { spokeLine, spokesOf } from "./spokes.ts";
import { clustersOf, FLUX_KINDS, reachable } from "./stack-steps.ts";
import { doorLine } from "./summary.ts";

const EVENTS_SHOWN = 5;

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).trim().split("\n")[0];

async function showProcesses(instance: Instance): Promise<Note[]> {
  console.log(`Instance ${instance.index} in ${instance.dir}\n\nProcesses`);
  const processes = await supervisorOf(instance).list();
  for (const { id, state, pid, restarts, message } of processes) {
    const note = message === undefined || state === "ready" ? "" : `  ${message}`;
    console.log(`  ${id.padEnd(32)} ${state.padEnd(9)} pid ${pid ?? "-"}  restarts ${restarts}${note}`);
  }
  const events = ((await readText(instance.paths.events)) ?? "").trimEnd().split("\n").slice(-EVENTS_SHOWN);
  if (events.some((line) => line !== ""))
    console.log(`\nLast events (${instance.paths.events})\n  ${events.join("\n  ")}`);
  return processNotes(processes);
}

/** Counts what is Ready on a cluster; gives what there is to say of it, and how many Flux objects it has. */
async function showObjects(kubectl: Kubectl): Promise<{ notes: Note[]; fluxObjects: number }> {
  const served = (await kubectl(["api-resources", "--output", "name"])).split("\n");
  const notes: Note[] = [];
  let fluxObjects = 0;
  for (const [title, kinds] of [
    ["Nodes", ["nodes"]],
    ["Flux objects", FLUX_KINDS.filter((kind) => served.includes(kind))],
    ["Pods", ["pods"]],
  ] as const) {
    const found = kinds.length === 0 ? [] : await objects(kubectl, kinds);
    if (title === "Flux objects") fluxObjects = found.length;
    const unready = objectNotes(found, Date.now());
    console.log(`    ${title}: ${found.length - unready.length} of ${found.length} Ready`);
    notes.push(...unready);
  }
  return { notes, fluxObjects };
}

/** Where a browser on this machine finds the load balancers of Ingresses. */
async function showDoors(instance: Instance): Promise<Note[]> {
  try {
    const doors = await doorsOf(instance);
    if (doors.length > 0) console.log("\nLoad balancers");
    for (const door of doors) process.stdout.write(doorLine(door));
    return [];
  } catch (error) {
    return [{ sort: "unknown", text: `load balancers can't be looked at: ${firstLine(error)}` }];
  }
}

async function showSpokes(kubectl: Kubectl): Promise<Note[]> {
  const spokes = await spokesOf(kubectl);
  console.log(`\nSpokes${spokes.length === 0 ? ": none" : ""}`);
  for (const spoke of spokes) console.log(`  ${spokeLine(spoke)}`);
  return spokes.flatMap(spokeNotes);
}

/** The clusters, and what runs on those that can be reached from here. */
async function showClusters(instance: Instance, folder: string, absent: Note["sort"]): Promise<Note[]> {
  const clusters = await clustersOf(instance);
  const hub = fleetNames(await fleetNameOf("local")).hubCluster;
  const config = join(folder, "kubeconfig");
  await writeFile(config, kubeconfig(reachable(clusters), join(instance.paths.bin, "aws")), { mode: 0o600 });
  const kubectlOf = (name: string): Kubectl => {
    const kubectl = kubectlFor(join(instance.paths.bin, "kubectl"), name, process.env);
    return (args) => kubectl(["--kubeconfig", config, "--request-timeout", "20s", ...args]);
  };
  const notes: Note[] = [];
  console.log("\nClusters");
  for (const { name = "", version, status, endpoint } of clusters) {
    console.log(`  ${name}  Kubernetes ${version}  ${status}  ${endpoint ?? ""}`);
    notes.push(...clusterNotes(name, status));
    if (status !== "ACTIVE" && status !== "UPDATING") continue;
    try {
      const found = await showObjects(kubectlOf(name));
      const own = name === hub ? hubNotes(found.fluxObjects, absent) : [];
      notes.push(...[...own, ...found.notes].map((note) => ({ ...note, text: `${name}: ${note.text}` })));
    } catch (error) {
      // A spoke may admit others than this machine and its user; the hub says of it whether it is well.
      notes.push({ sort: name === hub ? absent : "unknown", text: `${name} doesn't answer: ${firstLine(error)}` });
    }
  }
  const running = clusters.find(({ name, status }) => name === hub && (status === "ACTIVE" || status === "UPDATING"));
  if (running === undefined) return [...notes, { sort: absent, text: `the hub ${hub} does not run` }];
  return [...notes, ...(await showSpokes(kubectlOf(hub)))];
}

await main(async () => {
  const dir = defaultDir();
  const instance = await findInstance(dir);
  const busy = await underWay(dir);
  if (busy !== undefined) console.log(`${busy} is under way on ${dir}: what isn't ready yet may still come or go.\n`);
  if (instance === undefined) {
    console.log(`Nothing runs in ${dir}: npm start brings it up.`);
    return 1;
  }
  // npm start and npm run down stop and start what is asked here.
  const absent = busy === undefined ? "problem" : "progress";
  const notes = [...commandNotes(busy), ...(await showProcesses(instance))];
  const folder = await mkdtemp(join(tmpdir(), "fleet-status-"));
  try {
    notes.push(...(await showClusters(instance, folder, absent)));
    notes.push(...(await showDoors(instance)));
  } catch (error) {
    notes.push({ sort: absent, text: `the hub can't be looked at: ${firstLine(error)}` });
  } finally {
    await rm(folder, { recursive: true });
  }
  console.log("\nIn other versions than production");
  for (const { part, production, local } of differences())
    console.log(`  ${part}: ${local}; production: ${production}`);
  const { text, code } = verdict(notes);
  console.log(`\n${text}`);
  return code;
});
