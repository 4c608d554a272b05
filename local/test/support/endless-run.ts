// A run whose tests are replaced by one process that opens an instance and never ends; interruptible.test.ts interrupts it.
import { spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../cli/command.ts";
import { foreground } from "../../cli/foreground.ts";
import { interruptible } from "../../cli/interruptible.ts";
import { temporaryFolder } from "../../cli/temporary.ts";
import { openInstance } from "../../instance/index.ts";
import { supervisorOf } from "../../supervisor/client.ts";

const STACK = "local";

async function run(): Promise<number> {
  const folder = await temporaryFolder("fleet-endless", STACK);
  return interruptible(folder, STACK, () => foreground([process.execPath, import.meta.filename, "tests"], {}));
}

async function tests(): Promise<number> {
  const instance = await openInstance(await mkdtemp(join(tmpdir(), "fleet-own-")));
  await supervisorOf(instance).start({ id: "sleep", argv: ["sleep", "1000"] });
  // It would outlive its parent.
  spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  console.log(`tests ${process.pid} opened ${JSON.stringify(instance)}`);
  return new Promise(() => setInterval(() => {}, 1000));
}

await main(process.argv[2] === "tests" ? tests : run);
