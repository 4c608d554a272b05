import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Run, run as runCommand } from "./command.ts";

/** Whether this machine can take packages apart that its distribution serves: apt-get and dpkg-deb are there. */
export const hasApt = (exists: (path: string) => boolean = existsSync): boolean =>
  ["/usr/bin/apt-get", "/usr/bin/dpkg-deb"].every((path) => exists(path));

/** The distribution's release (Debian: with the point release) and processor: what decides which packages apt gives. */
export const distribution = (run: Run = runCommand): Promise<string> =>
  run([
    "sh",
    "-c",
    '. /etc/os-release && echo "$ID $VERSION_ID $(cat /etc/debian_version 2>/dev/null) $(dpkg --print-architecture)"',
  ]);

/**
 * apt's settings: sources, keys, pins and proxies are the machine's; lists, downloads and the record of what is installed
 * (nothing, so that apt names every library) are in `dir`. Hooks that the machine runs after an update are cleared: they
 * would change its own state.
 */
export const aptConfig = (dir: string, architecture?: string): string => `${
  architecture ? `APT::Architecture ${quoted(architecture)};\nAPT::Architectures { ${quoted(architecture)}; };\n` : ""
}Dir::State ${quoted(join(dir, "state"))};
Dir::State::status ${quoted(join(dir, "status"))};
Dir::Cache ${quoted(join(dir, "cache"))};
Dir::Log ${quoted(dir)};
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Retries "3";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`;

const quoted = (path: string) => `"${path}"`;

/**
 * The packages to take apart, out of what `apt-get --simulate install` says it would install: those that were asked for,
 * and the libraries that they need. The C library is the machine's own: it belongs to its dynamic linker.
 */
export function chosenPackages(plan: string, asked: readonly string[]): string[] {
  const names = [...plan.matchAll(/^Inst (\S+) /gm)].map(([, name = ""]) => name);
  return names.filter((name) => asked.includes(name) || /^lib(?!c6$|.*perl)/.test(name)).sort();
}

/** The file names in what `apt-get --print-uris download` says: `'<address>' <name> <size> <hash>`. */
const fileNames = (uris: string): string[] => [...uris.matchAll(/^'[^']+' (\S+\.deb) /gm)].map(([, name = ""]) => name);

interface UnpackOptions {
  readonly say?: (detail: string) => void;
  readonly run?: Run;
  /** A processor by Debian's name; default: the machine's. */
  readonly architecture?: string;
}

/**
 * Downloads packages of the machine's distribution with the libraries that they need, and unpacks them into `<dir>/root`.
 * Nothing is installed, and nothing of the machine's package database or apt's lists is touched. Killed and run again it
 * keeps what was downloaded, unless the path of `dir` is too long for apt. @returns `<dir>/root`
 */
export async function unpackPackages(
  dir: string,
  packages: readonly string[],
  { say = () => {}, run = runCommand, architecture }: UnpackOptions = {},
): Promise<string> {
  const apt = join(dir, "apt");
  const archives = await downloadFolder(dir);
  const root = join(dir, "root");
  for (const folder of [join(apt, "state", "lists", "partial"), join(apt, "cache", "archives", "partial"), archives])
    await mkdir(folder, { recursive: true });
  const settings = join(apt, "apt.conf");
  await writeFile(settings, aptConfig(apt, architecture));
  await writeFile(join(apt, "status"), "");
  const aptGet = ["apt-get", "--config-file", settings, "--quiet"];

  say("apt-get update, into a folder of its own");
  await run([...aptGet, "update"]);
  const chosen = chosenPackages(await run([...aptGet, "--simulate", "install", ...packages]), packages);
  const files = fileNames(await run([...aptGet, "--print-uris", "download", ...chosen]));
  let got = 0;
  await run([...aptGet, "download", ...chosen], {
    cwd: archives,
    onLine: (line) => {
      if (line.startsWith("Get:")) say(`${++got} of ${files.length} packages downloaded`);
    },
  });
  // What an earlier, killed attempt may have unpacked in part.
  await rm(root, { recursive: true, force: true });
  await mkdir(root);
  for (const file of files) {
    const asked = packages.includes(file.split("_")[0] ?? "");
    await unpack(run, join(archives, file), root, asked ? [] : NOT_LIBRARIES);
  }
  for (const folder of [apt, archives]) await rm(folder, { recursive: true });
  return root;
}

/** Where packages are downloaded to. apt takes "/" for a working folder whose path is longer (SafeGetCWD, apt-pkg/contrib/fileutl.cc). */
async function downloadFolder(dir: string): Promise<string> {
  const folder = join(dir, "archives");
  return Buffer.byteLength(folder) < 298 ? folder : await mkdtemp(join(tmpdir(), "fleet-packages-"));
}

// Of a package that only brings libraries, nothing else is wanted: some have programs with special rights.
const NOT_LIBRARIES = ["./bin", "./sbin", "./usr/bin", "./usr/sbin", "./etc", "./usr/share", "./usr/libexec"];

async function unpack(run: Run, archive: string, root: string, without: readonly string[]): Promise<void> {
  const content = `${archive}.tar`;
  await run(["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" > "$2"', "sh", archive, content]);
  await run([
    ...["tar", "--extract", "--file", content, "--directory", root, "--no-same-owner"],
    ...without.map((folder) => `--exclude=${folder}`),
  ]);
  await rm(content);
}
