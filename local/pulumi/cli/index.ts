/** Running Pulumi for an instance. */
export { pulumiCommand, runPulumi } from "./command.ts";
export { installPulumi } from "./install.ts";
export { pulumiEnvironment, pulumiPaths } from "./paths.ts";
export { encryptConfig } from "./secrets.ts";
export { prepareStack, requireStack, stackExists } from "./stack.ts";
