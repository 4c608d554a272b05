import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { RUN_ROOT } from "./addresses.ts";
import { readText } from "./files.ts";

/**
 * Settings of the machine's kernel and the least that they must be: packets go between nodes; and a cluster's programs have
 * about 25 inotify instances, where the kernel's default for all programs of a user is 128.
 */
const SETTINGS: Readonly<Record<string, number>> = {
  "/proc/sys/net/ipv4/ip_forward": 1,
  "/proc/sys/fs/inotify/max_user_instances": 8192,
};

const before = (file: string) => join(RUN_ROOT, `${basename(file)}.before`);

/** Raises what is too low, and notes what it was. */
export async function raiseKernelSettings(): Promise<void> {
  for (const [file, least] of Object.entries(SETTINGS)) {
    const value = await readFile(file, "utf8");
    if (Number(value) >= least) continue;
    await writeFile(before(file), value);
    await writeFile(file, `${least}\n`).catch((error: Error) => {
      const setting = file.replace("/proc/sys/", "").replaceAll("/", ".");
      throw new Error(
        `${setting} is ${value.trim()}, at least ${least} is needed, and it can't be set from here (${error.message}): ` +
          `on the machine itself run sysctl -w ${setting}=${least}`,
      );
    });
  }
}

/** Puts everything back to what it was before the first instance; for when no instance is left. */
export async function restoreKernelSettings(): Promise<void> {
  for (const file of Object.keys(SETTINGS)) {
    const value = await readText(before(file));
    if (value === undefined) continue;
    await writeFile(file, value);
    await rm(before(file));
  }
}
