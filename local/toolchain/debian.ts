import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { contentKey, ensureEntry } from "./cache.ts";
import { run } from "./run.ts";

/** What the node and the tests take from the distribution, which pins the versions. */
export const DEBIAN_PACKAGES = [
  "containerd",
  "containernetworking-plugins",
  "iproute2",
  // The bridge and portmap plugins call it for masquerading and host ports.
  "iptables",
  "nftables",
  "openssh-client",
  // Debian's python3 can't make virtual environments without it.
  "python3-venv",
  "runc",
] as const;

/** What must be there afterwards, whoever installed it: commands on PATH. */
export const SYSTEM_COMMANDS = [
  "containerd",
  "containerd-shim-runc-v2",
  "ctr",
  "ip",
  "iptables",
  "nft",
  "runc",
  "ssh",
] as const;

const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin"];

/** The folder of the CNI plugins: Debian's place, else the one of upstream's archives. Undefined: none is installed. */
export const cniDir = (exists: (path: string) => boolean = existsSync): string | undefined =>
  CNI_FOLDERS.find((folder) => exists(`${folder}/bridge`));

// dpkg-query fails when it doesn't know a package, and still lists the others.
// biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg-query's own.
const QUERY = "dpkg-query -W -f '${Package} ${db:Status-Status}\\n' \"$@\" || true";

/** Those of the packages that aren't "installed" in this list of names and states, one a line. */
export function missingPackages(status: string): string[] {
  const installed = new Set(
    status
      .split("\n")
      .filter((line) => line.endsWith(" installed"))
      .map((line) => line.split(" ")[0] ?? ""),
  );
  return DEBIAN_PACKAGES.filter((name) => !installed.has(name));
}

/** Installs the missing packages with apt. A machine without apt is preflight's business: it names the commands. */
export async function ensureDebianPackages(say: (detail: string) => void): Promise<void> {
  if (!existsSync("/usr/bin/apt-get")) return;
  const missing = missingPackages(await run(["sh", "-c", QUERY, "sh", ...DEBIAN_PACKAGES]));
  if (missing.length === 0) return;
  say(`apt-get install ${missing.join(" ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await run(["apt-get", "-q", "update"], { env });
  await run(["apt-get", "-q", "install", "--yes", "--no-install-recommends", ...missing], { env });
  // The package starts a containerd for the whole machine; the nodes run their own.
  if (missing.includes("containerd") && existsSync("/run/systemd/system")) {
    await run(["systemctl", "disable", "--now", "containerd.service"]);
  }
}

/** Absolute path of a system command, also of one in /usr/sbin, which a person's PATH may lack. @throws when there is none. */
export function systemPath(name: string): string {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  const path = folders.map((folder) => join(folder, name)).find((candidate) => existsSync(candidate));
  if (!path)
    throw new Error(`${name} is not on PATH: install the package that has it (where there is apt it is installed)`);
  return path;
}

const REGISTRY = "docker-registry";

/**
 * Debian's container registry, taken out of its package: installed, it would start a registry for the whole machine.
 * Where there is no apt it must be on PATH. @returns the program's path
 */
export async function ensureRegistryProgram(root: string, say: (detail: string) => void): Promise<string> {
  if (!existsSync("/usr/bin/apt-get")) return systemPath(REGISTRY);
  const folder = await ensureEntry(
    { root, group: REGISTRY, key: contentKey({ release: await release() }) },
    async (dir) => {
      say(`apt-get download ${REGISTRY}`);
      // Without package lists, as on a new machine, the first attempt fails.
      const download = 'cd "$1" && { apt-get -q download "$2" || { apt-get -q update && apt-get -q download "$2"; }; }';
      await run(["sh", "-c", download, "sh", dir, REGISTRY]);
      const archive = (await readdir(dir)).find((name) => name.endsWith(".deb"));
      await run(["dpkg-deb", "--extract", join(dir, archive ?? `${REGISTRY}.deb`), dir]);
    },
  );
  return join(folder, "usr", "bin", REGISTRY);
}

/** The distribution's release and processor: what decides which package apt gives. */
const release = (): Promise<string> =>
  run(["sh", "-c", ". /etc/os-release && echo $ID $VERSION_ID && dpkg --print-architecture"]);
