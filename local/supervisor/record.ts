import { readFile, rm } from "node:fs/promises";
import type { Instance } from "../instance/addresses.ts";
import { readJson, writeAtomic } from "../instance/files.ts";
import type { Running } from "./launch.ts";
import type { ProcessSpec } from "./spec.ts";

/** A process that should run. */
export interface RecordedProcess {
  readonly spec: ProcessSpec;
  /** Undefined from just before a start until the process is known, and while it waits for a restart. */
  readonly running: Running | undefined;
  readonly restarts: number;
}

const VERSION = 1;

interface RecordFile {
  readonly version: number;
  readonly bootId: string;
  readonly processes: readonly RecordedProcess[];
}

/** Reads the record; empty when there is none, and after a reboot, when all its process ids mean nothing. */
export async function loadRecord(instance: Instance): Promise<readonly RecordedProcess[]> {
  const record = await readJson<RecordFile>(instance.paths.record);
  if (record === undefined || record.bootId !== (await bootId())) return [];
  if (record.version !== VERSION)
    throw new Error(
      `${instance.paths.record}: version ${record.version} is unknown, this program knows version ${VERSION}`,
    );
  return record.processes;
}

/** Writes the record, mode 0600. */
export async function saveRecord(instance: Instance, processes: readonly RecordedProcess[]): Promise<void> {
  const record: RecordFile = { version: VERSION, bootId: await bootId(), processes };
  await writeAtomic(instance.paths.record, `${JSON.stringify(record, null, 2)}\n`);
}

/** Removes the record. */
export async function dropRecord(instance: Instance): Promise<void> {
  await rm(instance.paths.record, { force: true });
}

async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}
