/** A small, typed base for Pulumi provider plugins in TypeScript. */
export type { CheckFailure } from "./accepts.ts";
export { type Diff, diffInputs, replacing } from "./diff.ts";
export { fullMessage, ResourceNotReadyError } from "./errors.ts";
export { autoname } from "./naming.ts";
export type * from "./provider.ts";
export { markSecret } from "./secrets.ts";
export { serveProvider, serveTypes } from "./server.ts";
export { openSdk, type ResourceShape } from "./shape.ts";
export * from "./values.ts";
