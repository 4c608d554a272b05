import { existsSync } from "node:fs";
import { mkdir, readdir, rm, symlink } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import { CommandError, run as runCommand } from "../instance/command.ts";
import { compare, distribution, hasApt, unpackPackages } from "../product.ts";
import { CHECKOUT, debianSource } from "../product-paths.ts";
import { contentKey, ensureEntry, readTexts } from "./cache.ts";
import { run } from "./run.ts";
import { expectLibraries, libraryFolders, place, unpackedProgram } from "./unpacked.ts";

/** Commands that come together: all of them from this machine when it has them in a fitting version, else from a package. */
export interface SystemSet {
  /** Debian's name; Ubuntu's is the same. */
  readonly package: string;
  /** The first one tells the version of all. */
  readonly commands: readonly [string, ...string[]];
  /** The argument that makes it tell its version, and where in its answer that stands. */
  readonly version: readonly [argument: string, pattern: RegExp];
  /** The oldest version that is used. */
  readonly least: string;
  /** The oldest version that isn't used any more. */
  readonly below?: string;
  /** Names of the commands in the package, where they differ. */
  readonly unpacked?: Readonly<Record<string, string>>;
}

/** What nodes, the network of an instance and the tests take from the machine, or else from its distribution's packages. */
export const SYSTEM_SETS: readonly SystemSet[] = [
  {
    // 1.6 has enable_unprivileged_ports and netns_mounts_under_state_dir; 2 names the settings of a node differently.
    package: "containerd",
    commands: ["containerd", "ctr", "containerd-shim-runc-v2"],
    version: ["--version", / v?(\d+\.\d+\S*)/],
    least: "1.6",
    below: "2",
  },
  // containerd 1.6 asks for it (its script/setup/runc-version).
  { package: "runc", commands: ["runc"], version: ["--version", /^runc version (\S+)/], least: "1.1", below: "2" },
  // kube-proxy's nftables mode asks for it (Kubernetes, pkg/proxy/nftables/supported.go).
  { package: "nftables", commands: ["nft"], version: ["--version", /^nftables v(\S+)/], least: "1.0.1" },
  {
    // The first whose rules may be in nftables, where those of Docker and firewalld are.
    package: "iptables",
    commands: ["iptables", "iptables-save", "iptables-restore"],
    version: ["--version", /^iptables v(\S+)/],
    least: "1.8",
    unpacked: {
      iptables: "iptables-nft",
      "iptables-save": "iptables-nft-save",
      "iptables-restore": "iptables-nft-restore",
    },
  },
  // Older ones tell a date in place of a version, Busybox's `ip` neither.
  { package: "iproute2", commands: ["ip"], version: ["-V", /iproute2-(\d+\.[\d.]+)/], least: "5.0" },
  // The first with the kernel's protocol 7.
  { package: "ipset", commands: ["ipset"], version: ["--version", /^ipset v([^\s,]+)/], least: "7.0" },
  {
    // git signs commits with ssh-keygen of 8.2p1 and newer (its gpg-interface.c); StrictHostKeyChecking=accept-new is older.
    package: "openssh-client",
    commands: ["ssh", "ssh-keygen"],
    version: ["-V", /^OpenSSH_(\d+\.\d+)/],
    least: "8.2",
  },
  {
    // The registry's settings are those of version 2.
    package: "docker-registry",
    commands: ["docker-registry"],
    version: ["--version", /distribution(?:\/v\d+)? v?(\d\S*)/],
    least: "2.7",
    below: "3",
  },
];

/** Names of all commands of SYSTEM_SETS. */
export const SYSTEM_COMMANDS: readonly string[] = SYSTEM_SETS.flatMap(({ commands }) => commands);

const CNI_PACKAGE = "containernetworking-plugins";
const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin"];
// What a node's network is made of: clusters/node-config.ts.
const CNI_PLUGINS = ["ptp", "host-local", "loopback"];
const CNI_VERSION = "1.0.0";
const PIP_PACKAGE = "python3-pip-whl";

/** What the machine has itself, in fitting versions. */
export interface Own {
  /** Paths by command. */
  readonly commands: Readonly<Record<string, string>>;
  /** Folder of the CNI plugins. */
  readonly cni: string | undefined;
  /** python3 makes virtual environments with pip in them. */
  readonly pip: boolean;
}

/** The commands and files that the toolchain takes from the system. */
export interface System {
  /** Folder with exactly the commands of SYSTEM_SETS: links to the machine's own, or unpacked ones with their libraries. */
  readonly bin: string;
  /** Folder of the CNI plugins. */
  readonly cni: string;
  /** pip as a wheel, to be run by any python3; undefined where python3 brings its own. */
  readonly pip: string | undefined;
}

/** The name of `System.bin`: it tells such a folder on PATH, which another process put there, from the machine's own. */
const BIN = "fleet-system-commands";

/** Path of a command of this machine, also of one in /usr/sbin, which a person's PATH may lack. */
export function commandPath(name: string, path = process.env["PATH"] ?? ""): string | undefined {
  const folders = [...path.split(delimiter).filter((folder) => basename(folder) !== BIN), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find((candidate) => existsSync(candidate));
}

/** Whether what a set's first command says of its version is in the range that is used. */
export function fits({ version: [, pattern], least, below }: SystemSet, told: string): boolean {
  const version = pattern.exec(told)?.[1];
  if (version === undefined) return false;
  return compare(version, least) >= 0 && (below === undefined || compare(version, below) < 0);
}

/** Looks at what this machine has itself. */
export async function findOwn(): Promise<Own> {
  const sets = await Promise.all(
    SYSTEM_SETS.map(async (set): Promise<[string, string][]> => {
      const found = set.commands.flatMap((name) => {
        const path = commandPath(name);
        return path === undefined ? [] : [[name, path] as [string, string]];
      });
      if (found.length < set.commands.length) return [];
      return fits(set, await output([found[0]?.[1] ?? "", set.version[0]])) ? found : [];
    }),
  );
  return {
    commands: Object.fromEntries(sets.flat()),
    cni: await ownPlugins(),
    pip: (await output(["python3", "-c", "import ensurepip, venv; print('yes')"])).trim() === "yes",
  };
}

async function ownPlugins(): Promise<string | undefined> {
  for (const folder of CNI_FOLDERS) {
    if (!CNI_PLUGINS.every((name) => existsSync(join(folder, name)))) continue;
    const told = await output([join(folder, CNI_PLUGINS[0] ?? "")], { ...process.env, CNI_COMMAND: "VERSION" });
    if (told.includes(`"${CNI_VERSION}"`)) return folder;
  }
  return undefined;
}

/** What a command writes, on both outputs; nothing when it fails. */
async function output(argv: readonly [string, ...string[]], env = process.env): Promise<string> {
  try {
    return await runCommand(["sh", "-c", 'exec "$@" 2>&1', "sh", ...argv], { env });
  } catch (error) {
    if (error instanceof CommandError) return "";
    throw error;
  }
}

/** The packages that bring what the machine lacks. */
export function lackingPackages({ commands, cni, pip }: Own): string[] {
  const sets = SYSTEM_SETS.filter((set) => set.commands.some((name) => commands[name] === undefined));
  return [
    ...sets.map((set) => set.package),
    ...(cni === undefined ? [CNI_PACKAGE] : []),
    ...(pip ? [] : [PIP_PACKAGE]),
  ];
}

/** What a machine without apt must have and has not, as one line each. */
export const lackingWithoutApt = (own: Own): string[] =>
  lackingPackages(own).map((name) => {
    const set = SYSTEM_SETS.find((candidate) => candidate.package === name);
    const what = set ? `${set.commands.join(", ")} (${range(set)})` : name;
    return `${what}: not on this machine in such a version, and there is no apt-get to take it from the distribution: install it`;
  });

const range = ({ least, below }: SystemSet) =>
  below === undefined ? `version ${least} or newer` : `version ${least} or newer, below ${below}`;

/**
 * The system's part of the toolchain, from the cache: where the machine lacks a command or has it in a version that isn't
 * used, it comes out of the distribution's package. Nothing is installed. The entry's key holds the distribution's release
 * and the machine's own commands, so an upgrade makes a new one.
 * @param given what the machine has itself (default: what `findOwn` finds)
 * @throws where there is no apt and something is lacking
 */
export async function ensureSystem(root: string, say: (detail: string) => void, given?: Own): Promise<System> {
  const own = given ?? (await findOwn());
  const packages = lackingPackages(own);
  if (packages.length > 0 && !hasApt()) throw new Error(lackingWithoutApt(own).join("\n"));
  const texts = await readTexts(CHECKOUT, [debianSource, "local/toolchain/system.ts", "local/toolchain/unpacked.ts"]);
  const release = packages.length > 0 ? await distribution() : "";
  const key = contentKey({ ...texts, own: JSON.stringify(own), release });
  const dir = await ensureEntry({ root, group: "system", key }, (folder) => build(folder, own, packages, say));
  return {
    bin: join(dir, BIN),
    cni: own.cni ?? join(dir, "root", "usr", "lib", "cni"),
    pip: own.pip ? undefined : await wheel(join(dir, "root", "usr", "share", "python-wheels")),
  };
}

async function build(dir: string, own: Own, packages: string[], say: (detail: string) => void): Promise<void> {
  const root = packages.length > 0 ? await unpackPackages(dir, packages, { say, run }) : undefined;
  const bin = join(dir, BIN);
  await rm(bin, { recursive: true, force: true });
  await mkdir(bin);
  const libraries = root === undefined ? [] : await libraryFolders(root);
  for (const { commands, unpacked } of SYSTEM_SETS)
    for (const name of commands) {
      const path = own.commands[name];
      if (path !== undefined) await symlink(path, join(bin, name));
      else if (root !== undefined)
        await place(await unpackedProgram(root, unpacked?.[name] ?? name), join(bin, name), libraries);
    }
  if (own.cni === undefined && root !== undefined)
    for (const name of CNI_PLUGINS) await expectLibraries(join(root, "usr", "lib", "cni", name), []);
}

async function wheel(folder: string): Promise<string> {
  const name = (await readdir(folder)).find((file) => /^pip-.*\.whl$/.test(file));
  if (name === undefined) throw new Error(`${PIP_PACKAGE} has no wheel of pip in ${folder}: remove ${dirname(folder)}`);
  return join(folder, name);
}

/**
 * Puts the system's commands first on this process's PATH, and so of all that it starts: `ip`, `nft` and `iptables` then
 * work also on a machine that has none. Idempotent.
 */
export function useSystem({ bin }: System): void {
  const others = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => basename(folder) !== BIN);
  process.env["PATH"] = [bin, ...others].join(delimiter);
}
