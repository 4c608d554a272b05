export * from "./addresses.ts";
export { hierarchies } from "./cgroups.ts";
export { CommandError, run } from "./command.ts";
export { type EndpointAccess, filterEndpoints } from "./endpoints.ts";
export { readFolder, readJson, readText, writeAtomic } from "./files.ts";
export { folderFault, INSTANCE_FOLDER, removeOwned } from "./folder.ts";
export { defaultDir, findInstance, listInstances, openInstance, releaseInstance } from "./instance.ts";
export { leftovers } from "./leftovers.ts";
export { tryLock, withLock } from "./lock.ts";
