import { rm } from "node:fs/promises";
import type { Instance } from "./addresses.ts";
import { removeCgroup } from "./cgroups.ts";
import { run } from "./command.ts";
import { addresses, links, logLinks, namespaces } from "./leftovers.ts";
import { unmountUnder } from "./mounts.ts";
import { removeAddress, removeFilter } from "./network.ts";
import { killAll, processesOf } from "./processes.ts";

/**
 * Ends and removes all that the kernel holds for an instance, found by its marks and names alone: for an instance whose
 * folder, and with it every record, was removed while it ran. Idempotent.
 */
export async function purge(instance: Instance): Promise<void> {
  await killAll(() => processesOf(instance));
  for (const folder of [instance.paths.clusters, instance.paths.run]) await unmountUnder(folder);
  for (const link of await links(instance)) await run(["ip", "link", "del", link]);
  for (const namespace of await namespaces(instance)) await run(["ip", "netns", "del", namespace]);
  await removeCgroup(instance.kernel.cgroup);
  for (const address of await addresses(instance)) await removeAddress(address);
  await removeFilter(instance);
  for (const link of await logLinks(instance)) await rm(link, { force: true });
  await rm(instance.paths.run, { recursive: true, force: true });
}
