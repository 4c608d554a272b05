/** gRPC services as Pulumi's engine expects of the processes that it starts. */
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { ProviderError, toServiceError } from "./errors.ts";

/** Largest message, as in Pulumi's own plugins: 400 MiB. */
const MAX_MESSAGE_BYTES = 400 * 1024 * 1024;

/** A function of a request as a handler that reports every error. */
export function unary<Q, R>(run: (request: Q) => R | Promise<R>): handleUnaryCall<Q, R> {
  return (call, callback) => {
    Promise.resolve()
      .then(() => run(call.request))
      .then(
        (response) => callback(null, response),
        (error: unknown) => callback(asServiceError(error)),
      );
  };
}

/** A function that writes responses, as a handler that reports every error. */
export function streaming<Q, R>(
  run: (call: ServerWritableStream<Q, R>) => Promise<void>,
): handleServerStreamingCall<Q, R> {
  return (call) => {
    Promise.resolve()
      .then(() => run(call))
      .then(
        () => call.end(),
        (error: unknown) => call.emit("error", asServiceError(error)),
      );
  };
}

function asServiceError(error: unknown): Partial<ServiceError> {
  const ready = typeof error === "object" && error !== null && "details" in error && "code" in error;
  return ready ? (error as Partial<ServiceError>) : toServiceError(error, []);
}

/**
 * Serves the methods on a free loopback port; methods of the service that are not there are refused by name.
 * @param who who refuses, for the message: `the stand-in provider tls`.
 */
export async function listen(
  service: ServiceDefinition,
  implementation: UntypedServiceImplementation,
  who: string,
): Promise<{ server: Server; port: number }> {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  server.addService(service, { ...refusals(service, who), ...implementation });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { server, port };
}

function refusals(service: ServiceDefinition, who: string): UntypedServiceImplementation {
  const refuse = (method: string) =>
    unary(() => {
      throw new ProviderError(status.UNIMPLEMENTED, `${who} does not implement ${method}`);
    });
  return Object.fromEntries(Object.keys(service).map((method) => [method, refuse(method)]));
}
