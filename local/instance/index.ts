export * from "./addresses.ts";
export { type Hierarchies, hierarchies } from "./cgroups.ts";
export { CommandError, run } from "./command.ts";
export { type EndpointAccess, filterEndpoints } from "./endpoints.ts";
export { readFolder, readJson, readText, writeAtomic } from "./files.ts";
export { ensureOwned, folderFault, INSTANCE_FOLDER, type OwnedKind, removeOwned } from "./folder.ts";
export { defaultDir, findInstance, listInstances, openInstance, releaseInstance } from "./instance.ts";
export { type Leftover, leftovers } from "./leftovers.ts";
export { type Lock, tryLock, withLock } from "./lock.ts";
