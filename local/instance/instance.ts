import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CHECKOUT } from "../product-paths.ts";
import { type Instance, instanceAt, MAX_INSTANCES, RUN_ROOT } from "./addresses.ts";
import { quote } from "./command.ts";
import { readFolder, readJson, writeAtomic } from "./files.ts";
import { ensureOwned, INSTANCE_FOLDER } from "./folder.ts";
import { prepareHost, restoreHost } from "./host-state.ts";
import { type Leftover, leftovers } from "./leftovers.ts";
import { withLock } from "./lock.ts";
import { addAddress, isolate } from "./network.ts";
import { purge } from "./purge.ts";

interface Claim {
  readonly dir: string;
  readonly index: number;
}

/** The folder of the instance that a person uses: `FLEET_LOCAL_DIR`, or `.local` at the root of this checkout. */
export function defaultDir(): string {
  return realDir(process.env["FLEET_LOCAL_DIR"] || join(CHECKOUT, ".local"));
}

/**
 * A folder by the path that mounts and processes are known by: without links above it. The folder itself may not be there yet;
 * when it is a link, it stays one, and is refused.
 */
function realDir(dir: string): string {
  const path = resolve(dir);
  const parent = dirname(path);
  if (parent === path) return path;
  return join(existsSync(parent) ? realpathSync(parent) : realDir(parent), basename(path));
}

/**
 * Opens the instance of a folder: claims an index, makes its folders, its addresses on `lo` and its packet filter.
 * Idempotent. A folder keeps its index (its state is full of addresses): when another folder has taken that index
 * meanwhile, or all are taken, this rejects and says what to do. So it does when the folder is neither empty nor an instance.
 */
export async function openInstance(dir: string = defaultDir()): Promise<Instance> {
  return await withLock("instances", async () => {
    await mkdir(RUN_ROOT, { recursive: true, mode: 0o755 });
    const real = realDir(dir);
    await ensureOwned(INSTANCE_FOLDER, real);
    const instance = await claim(real);
    await makeFolders(instance);
    await writeAtomic(identityOf(instance.dir), `${JSON.stringify({ index: instance.index })}\n`, 0o644);
    await prepareHost();
    await addAddress(instance.gatewayAddress);
    await isolate(instance);
    return instance;
  });
}

/** The instance of a folder when it is open (its index is claimed), else undefined. Changes nothing. */
export async function findInstance(dir: string = defaultDir()): Promise<Instance | undefined> {
  const claim = (await readClaims()).find((claim) => claim.dir === realDir(dir));
  return claim && instanceAt(claim.dir, claim.index);
}

/** The open instance of this process (FLEET_LOCAL_DIR). @throws Error when it is not open */
export async function currentInstance(): Promise<Instance> {
  const instance = await findInstance();
  if (instance === undefined)
    throw new Error(`there is no open instance in ${defaultDir()} (FLEET_LOCAL_DIR): npm start opens one`);
  return instance;
}

/** Every open instance of this machine, by index. */
export async function listInstances(): Promise<Instance[]> {
  return (await readClaims()).map((claim) => instanceAt(claim.dir, claim.index));
}

/**
 * Gives an instance's index, addresses and packet filter back; its folder stays. The last one puts the machine back to what
 * it was, and rejects with what it could not. Idempotent. Stop its processes and clusters first: while something of it exists
 * besides these, this rejects and lists it.
 */
export async function releaseInstance(instance: Instance): Promise<void> {
  await withLock("instances", async () => {
    const others = (await withoutStale(await readClaims())).filter((claim) => claim.index !== instance.index);
    const running = (await leftovers(instance)).filter(isInUse);
    if (running.length > 0)
      throw new Error(
        `the instance in ${instance.dir} still has ${running.map(({ kind, name }) => `${kind} ${name}`).join(", ")}: remove its clusters and shut its supervisor down first (npm run down)`,
      );
    await purge(instance);
    await rm(instance.paths.claim, { force: true });
    if (others.length > 0) return;
    await restoreHost();
    await rmdir(RUN_ROOT).catch((error: NodeJS.ErrnoException) =>
      ["ENOENT", "ENOTEMPTY"].includes(error.code ?? "") ? undefined : Promise.reject(error),
    );
  });
}

/** Addresses and rules belong to the instance itself, a cgroup may be empty, a log's container gone: none of them means that something still runs. */
function isInUse({ kind }: Leftover): boolean {
  return !["address", "nft table", "iptables rule", "cgroup", "log link"].includes(kind);
}

async function claim(dir: string): Promise<Instance> {
  const claims = await withoutStale(await readClaims());
  const current = claims.find((claim) => claim.dir === dir)?.index;
  const kept = await keptIndex(dir, claims);
  const instance = instanceAt(dir, current ?? kept ?? (await freeIndex(dir, claims)));
  // The folder was removed while its instance ran: what still runs knows keys and state that are gone.
  if (current !== undefined && kept === undefined) await purge(instance);
  const { index } = instance;
  await writeAtomic(instance.paths.claim, `${JSON.stringify({ dir, index } satisfies Claim)}\n`, 0o644);
  return instance;
}

async function keptIndex(dir: string, claims: readonly Claim[]): Promise<number | undefined> {
  const kept = (await readJson<{ index: number }>(identityOf(dir)))?.index;
  const holder = claims.find((claim) => claim.index === kept && claim.dir !== dir);
  if (holder === undefined) return kept;
  if (!(await holdsState(dir))) return undefined;
  throw new Error(
    `the instance in ${dir} needs index ${holder.index}, which ${holder.dir} has taken: stop that one first (FLEET_LOCAL_DIR=${quote(holder.dir)} npm run down), or remove ${dir} to start over`,
  );
}

/** Whether something in an instance's folder knows its addresses: clusters, or the Pulumi state of their outputs. */
async function holdsState(dir: string): Promise<boolean> {
  const { clusters, eks, pulumi } = instanceAt(dir, 0).paths;
  const contents = await Promise.all([clusters, eks, pulumi].map((folder) => readFolder(folder)));
  return contents.some((names) => names !== undefined && names.length > 0);
}

async function freeIndex(dir: string, claims: readonly Claim[]): Promise<number> {
  for (let index = 0; index < MAX_INSTANCES; index++) {
    if (claims.some((claim) => claim.index === index)) continue;
    // Links to logs outlast a reboot; the next instance with their index removes them at its end.
    if ((await leftovers(instanceAt(dir, index))).every(({ kind }) => kind === "log link")) return index;
  }
  throw new Error(
    `all ${MAX_INSTANCES} instances of this machine are taken: stop one that is no longer needed (npm run down with its FLEET_LOCAL_DIR): ${claims.map((claim) => claim.dir).join(", ")}`,
  );
}

/** Drops the claims whose folder is gone, but not while something of theirs still runs: its addresses are in use. */
async function withoutStale(claims: readonly Claim[]): Promise<Claim[]> {
  const kept: Claim[] = [];
  for (const claim of claims) {
    const instance = instanceAt(claim.dir, claim.index);
    const alive = (await readJson<{ index: number }>(identityOf(claim.dir)))?.index === claim.index;
    if (alive || (await leftovers(instance)).some(isInUse)) {
      kept.push(claim);
      continue;
    }
    await purge(instance);
    await rm(instance.paths.claim, { force: true });
  }
  return kept;
}

async function readClaims(): Promise<Claim[]> {
  const names = ((await readFolder(RUN_ROOT)) ?? []).filter((name) => /^\d+\.json$/.test(name));
  const claims = await Promise.all(names.map((name) => readJson<Claim>(join(RUN_ROOT, name))));
  return claims.filter((claim) => claim !== undefined).sort((a, b) => a.index - b.index);
}

async function makeFolders({ dir, paths }: Instance): Promise<void> {
  const open = [dir, paths.logs, paths.git, paths.bin, dirname(paths.caCertificate)];
  const secret = [paths.pulumi, dirname(paths.awsConfig), paths.eks, paths.clusters, paths.etcd, paths.run];
  for (const folder of open) await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const folder of secret) await mkdir(folder, { recursive: true, mode: 0o700 });
}

function identityOf(dir: string): string {
  return join(dir, "instance.json");
}
