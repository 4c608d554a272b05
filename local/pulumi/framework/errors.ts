/** Errors of a provider and their way to the engine as gRPC statuses. */
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import statuspb from "@pulumi/pulumi/proto/status_pb.js";
import anypb from "google-protobuf/google/protobuf/any_pb.js";
import { redact } from "./secrets.ts";
import { type PropertyMap, textOf, type Value } from "./values.ts";
import { encode } from "./wire.ts";

/** A refusal or failure with a gRPC status of its own; other errors are reported as UNKNOWN. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: status;
  constructor(code: status, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The resource exists, but it did not become usable (a Deployment that never got ready). The engine records it with its id and state,
 * shows the reasons, and the next update goes on from there instead of losing or doubling it.
 */
export class ResourceNotReadyError extends Error {
  override readonly name = "ResourceNotReadyError";
  readonly id: string;
  readonly outputs: PropertyMap;
  readonly reasons: readonly string[];
  /** Inputs to record; missing: those of the request. */
  readonly inputs: PropertyMap | undefined;
  constructor(id: string, outputs: PropertyMap, reasons: readonly string[], inputs?: PropertyMap) {
    super(reasons.join("\n"));
    this.id = id;
    this.outputs = outputs;
    this.reasons = reasons;
    this.inputs = inputs;
  }
}

/** The message of an error with the messages of all its causes, each said once. */
export function fullMessage(error: unknown): string {
  const parts: string[] = [];
  for (let current = error; current !== undefined && current !== null; current = cause(current)) {
    const text = current instanceof Error ? errorText(current) : textOf(current);
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(": ");
}

function cause(error: unknown): unknown {
  if (error instanceof AggregateError && error.cause === undefined) return error.errors[0];
  return error instanceof Error ? error.cause : undefined;
}

function errorText(error: Error): string {
  const message = error.message || (error as { code?: string }).code || "no message";
  // AWS errors say what kind they are only in their name (AccessDeniedException); class names (TypeError) say nothing to a user.
  return error.name.endsWith("Error") || message.startsWith(error.name) ? message : `${error.name}: ${message}`;
}

/**
 * Errors travel in HTTP/2 headers, whose block Node's HTTP/2 limits to 64 KiB: a larger one breaks the call and loses the resource. So
 * texts and recorded outputs are cut to these sizes in bytes (measured: 60 kB of outputs pass, 100 kB don't).
 */
const MAX_TEXT = 8_000;
const MAX_OUTPUTS = 24_000;

function cut(text: string): string {
  return text.length <= MAX_TEXT
    ? text
    : `${text.slice(0, MAX_TEXT)} … (${text.length - MAX_TEXT} more characters cut)`;
}

/** The outputs without their largest members, as far as they have to go; the next refresh or update records them again. */
function fitting(outputs: PropertyMap): PropertyMap {
  const sizes = Object.entries(outputs).map(([name, value]) => ({
    name,
    size: encode({ value }).serializeBinary().length,
  }));
  let total = sizes.reduce((sum, { size }) => sum + size, 0);
  const kept = new Set(sizes.map(({ name }) => name));
  for (const { name, size } of sizes.sort((a, b) => b.size - a.size)) {
    if (total <= MAX_OUTPUTS) break;
    kept.delete(name);
    total -= size;
  }
  return Object.fromEntries(Object.entries(outputs).filter(([name]) => kept.has(name)));
}

/** The error as the engine reads it; secrets of the request are cut out of its text. */
export function toServiceError(error: unknown, secrets: readonly Value[]): Partial<ServiceError> {
  const message = cut(redact(fullMessage(error), secrets));
  if (error instanceof ResourceNotReadyError) return notReady(error, message, secrets);
  const code = error instanceof ProviderError ? error.code : status.UNKNOWN;
  return { code, details: message, message };
}

function notReady(error: ResourceNotReadyError, message: string, secrets: readonly Value[]): Partial<ServiceError> {
  const detail = new provpb.ErrorResourceInitFailed();
  detail.setId(error.id);
  detail.setProperties(encode(fitting(error.outputs)));
  const reasons = cut(error.reasons.map((reason) => redact(reason, secrets)).join("\n"));
  detail.setReasonsList(reasons.split("\n"));
  // Inputs that are too large stay those of the request.
  const inputs = error.inputs && encode(error.inputs);
  if (inputs && inputs.serializeBinary().length <= MAX_OUTPUTS / 2) detail.setInputs(inputs);
  const any = new anypb.Any();
  any.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const rpc = new statuspb.Status();
  rpc.setCode(status.UNKNOWN);
  rpc.setMessage(error.reasons.length > 0 ? cut(redact(error.reasons[0] as string, secrets)).slice(0, 500) : "");
  rpc.addDetails(any);
  const metadata = new Metadata();
  metadata.add("grpc-status-details-bin", Buffer.from(rpc.serializeBinary()));
  return { code: status.UNKNOWN, details: message, message, metadata };
}

/** Runs an operation and cuts the secrets of its properties out of its error. */
export async function redacting<T>(properties: readonly PropertyMap[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toServiceError(error, properties);
  }
}
