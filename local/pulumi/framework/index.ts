/** A small, typed base for Pulumi provider plugins in TypeScript. */
export { type CheckFailure, checkInputs, missing } from "./accepts.ts";
export { type Diff, diffInputs, isUnknown, join, type PropertyDiff, sameJson, sameSet } from "./diff.ts";
export { fullMessage, ProviderError, ResourceNotReadyError } from "./errors.ts";
export { autoname } from "./naming.ts";
export type * from "./provider.ts";
export { markSecret, mirrorSecrets } from "./secrets.ts";
export { serveProvider } from "./server.ts";
export { openSdk, type ResourceShape, type Sdk } from "./shape.ts";
export * from "./values.ts";
