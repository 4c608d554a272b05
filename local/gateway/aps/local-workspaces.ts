import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { preparedAddons } from "../../clusters/index.ts";
import { type Instance, readFolder, readText, writeAtomic } from "../../instance/index.ts";
import { type ProcessSpec, supervisorOf } from "../../supervisor/index.ts";
import { refusalIn } from "./rule-errors.ts";
import { RulesRefused, type ServerSettings, type Workspaces } from "./runtime.ts";

/** Ports of the servers on the instance's loopback address: this and the 24 after it, by the workspaces' numbers. */
const FIRST_PORT = 9600;

/** Files of a workspace's server. */
interface ServerFiles {
  readonly dir: string;
  readonly configuration: string;
  readonly rules: string;
  readonly data: string;
}

/** The workspaces of an instance: one Prometheus each, run by the instance's supervisor. */
export function localWorkspaces(instance: Instance): Workspaces {
  const program = async () => (await preparedAddons(instance))?.programs["prometheus"];
  return {
    unavailable: async () =>
      (await program()) === undefined
        ? "the program of Prometheus is not built: run npm start -- --addons prometheus, then create the workspace again"
        : undefined,
    of: (id, number) => {
      const address = `http://${instance.loopbackAddress}:${FIRST_PORT + number}`;
      const files = filesOf(join(instance.paths.workspaces, id));
      const supervisor = supervisorOf(instance);
      return {
        address,
        ensure: async (settings) => {
          const found = await program();
          if (found === undefined) throw new Error(`${files.dir} has no server: the program of Prometheus is gone`);
          await writeFiles(files, settings);
          const { log } = await supervisor.start(prometheusSpec(id, found, address, files, settings.retentionDays));
          await reload(address, files.rules, log);
        },
        remove: async () => {
          await supervisor.stop(processId(id));
          await rm(files.dir, { recursive: true, force: true });
        },
      };
    },
  };
}

const processId = (id: string): string => `prometheus.${id}`;

function filesOf(dir: string): ServerFiles {
  return {
    dir,
    configuration: join(dir, "prometheus.yml"),
    rules: join(dir, "rules"),
    data: join(dir, "data"),
  };
}

/** The process of a workspace's server. */
function prometheusSpec(
  id: string,
  program: string,
  address: string,
  files: ServerFiles,
  retentionDays: number,
): ProcessSpec {
  return {
    id: processId(id),
    argv: [
      program,
      `--config.file=${files.configuration}`,
      `--storage.tsdb.path=${files.data}`,
      `--storage.tsdb.retention.time=${retentionDays}d`,
      `--web.listen-address=${new URL(address).host}`,
      "--web.enable-remote-write-receiver",
      // For new rules. Nobody but this machine reaches it: the gateway passes on no such path.
      "--web.enable-lifecycle",
      "--log.level=warn",
    ],
    ready: { http: { url: `${address}/-/ready` } },
  };
}

/** The configuration and the rules of `settings`, and no others. */
async function writeFiles(files: ServerFiles, { rules }: ServerSettings): Promise<void> {
  for (const folder of [files.data, files.rules]) await mkdir(folder, { recursive: true, mode: 0o700 });
  // JSON is YAML.
  await writeChanged(files.configuration, `${JSON.stringify({ rule_files: [join(files.rules, "*.yaml")] })}\n`);
  const names = Object.keys(rules).map((name) => `${name}.yaml`);
  for (const file of (await readFolder(files.rules)) ?? [])
    if (!names.includes(file)) await rm(join(files.rules, file), { force: true });
  for (const [name, content] of Object.entries(rules)) await writeChanged(join(files.rules, `${name}.yaml`), content);
}

async function writeChanged(path: string, content: string): Promise<void> {
  if ((await readText(path)) !== content) await writeAtomic(path, content);
}

/** Has the server read its rules again. It answers 500 and keeps the old ones where it doesn't take them. */
async function reload(address: string, rules: string, log: string): Promise<void> {
  const before = (await readText(log))?.length ?? 0;
  const answer = await fetch(`${address}/-/reload`, { method: "POST" });
  const text = (await answer.text()).trim();
  if (answer.status === 500) throw new RulesRefused(refusalIn((await readText(log))?.slice(before) ?? "", rules, text));
  if (!answer.ok) throw new Error(`${address} did not reload its rules: ${answer.status} ${text}`);
}
