/** Running Pulumi for an instance. */
export { type PulumiCommand, pulumiCommand, type RunOptions, runPulumi } from "./command.ts";
export { type InstalledPlugin, installPlugins, installPulumi } from "./install.ts";
export { ensurePassphrase, pulumiEnvironment, pulumiPaths } from "./paths.ts";
export { encryptConfig } from "./secrets.ts";
export { prepareStack, requireStack, selectedStack, stackExists } from "./stack.ts";
