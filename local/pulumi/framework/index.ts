/** A small, typed base for Pulumi provider plugins in TypeScript. */
export type { CheckFailure } from "./accepts.ts";
export { type Diff, diffInputs } from "./diff.ts";
export { ResourceNotReadyError } from "./errors.ts";
export type * from "./provider.ts";
export { serveProvider, serveTypes } from "./server.ts";
export { openSdk, type ResourceShape } from "./shape.ts";
export * from "./values.ts";
