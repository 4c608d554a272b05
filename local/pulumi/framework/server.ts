/** The gRPC service pulumirpc.ResourceProvider over a provider definition, and the process around it. */
import { status } from "@grpc/grpc-js";
import pluginpb from "@pulumi/pulumi/proto/plugin_pb.js";
import providergrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import emptypb from "google-protobuf/google/protobuf/empty_pb.js";
import { checkInputs } from "./accepts.ts";
import { checkConfig, decodeConfig, diffConfig } from "./config-calls.ts";
import { connectEngine } from "./engine.ts";
import { fullMessage, ProviderError, redacting } from "./errors.ts";
import { engineAddress, onEnd } from "./lifetime.ts";
import { setDiff, setFailures } from "./messages.ts";
import type { ProviderDefinition, ResourceDefinition } from "./provider.ts";
import { resourceCalls } from "./resource-calls.ts";
import { listen, unary } from "./rpc.ts";
import { mirrorSecrets } from "./secrets.ts";
import type { Sdk } from "./shape.ts";
import { plainMap } from "./values.ts";
import { decode, encode } from "./wire.ts";

/** The methods of the service for one provider; `close` aborts what runs. */
function makeService<S>(provider: ProviderDefinition<S>, startAddress: string | undefined) {
  const { name, version } = provider.sdk;
  const who = `the stand-in provider ${name} ${version}`;
  let address = startAddress;
  let engine = connectEngine(address);
  let configured: { session: S } | undefined;
  const abort = new AbortController();
  const { signal } = abort;
  const session = (): S => {
    if (configured) return configured.session;
    throw new ProviderError(status.FAILED_PRECONDITION, `the provider ${name} was not configured yet`);
  };

  const implementation = {
    ...resourceCalls({ provider, session, signal, log: (urn) => engine.log(urn) }),
    handshake: unary((request: messages.ProviderHandshakeRequest) => {
      if (!address && request.getEngineAddress()) {
        address = request.getEngineAddress();
        engine = connectEngine(address);
      }
      // The engine sends pulumi:autonaming only to a provider that claims it, and autoname refuses it.
      return new provpb.ProviderHandshakeResponse().setAcceptSecrets(true).setSupportsAutonamingConfiguration(true);
    }),
    getPluginInfo: unary(() => new pluginpb.PluginInfo().setVersion(version)),
    checkConfig: unary((request: messages.CheckRequest) => {
      const failures = checkConfig(provider, decode(request.getNews()));
      return setFailures(new provpb.CheckResponse().setInputs(request.getNews()), failures);
    }),
    diffConfig: unary((request: messages.DiffRequest) => {
      const olds = decode(request.getOldInputs() ?? request.getOlds());
      return setDiff(new provpb.DiffResponse(), diffConfig(provider, olds, decode(request.getNews())));
    }),
    configure: unary(async (request: messages.ConfigureRequest) => {
      const config = decodeConfig(provider.sdk.provider(), decode(request.getArgs()));
      configured = { session: await redacting([config], async () => provider.configure(plainMap(config))) };
      return new provpb.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true);
    }),
    /** Results of the same name as a secret argument are secret. */
    invoke: unary(async (request: messages.InvokeRequest) => {
      const current = session();
      const token = request.getTok();
      const definition = provider.functions?.[token];
      if (!definition) {
        const known = Object.keys(provider.functions ?? {}).join(", ") || "none";
        const message = `${who} does not implement the function ${token}; implemented: ${known}`;
        throw new ProviderError(status.UNIMPLEMENTED, message);
      }
      const given = Object.entries(decode(request.getArgs())).filter(([, value]) => value !== null);
      const args = Object.fromEntries(given);
      const shape = { token, source: who, inputs: definition.arguments, required: definition.required };
      const failures = checkInputs(shape, undefined, args);
      const response = new provpb.InvokeResponse();
      if (failures.length > 0) return setFailures(response, failures);
      const outputs = await redacting([args], () => definition.call({ session: current, args: plainMap(args) }));
      return response.setReturn(encode(mirrorSecrets(outputs, args)));
    }),
    cancel: unary(() => {
      abort.abort(new Error("the update was cancelled"));
      return new emptypb.Empty();
    }),
  };
  const close = () => {
    abort.abort(new Error("the engine is gone"));
    engine.close();
  };
  return { implementation, close, who, log: () => engine.log("") };
}

/**
 * Serves a provider as the engine expects of a plugin process: prints the port on stdout and runs until the engine ends it or is gone.
 * The engine's address is the last argument of the process.
 */
export async function serveProvider<S>(provider: ProviderDefinition<S>): Promise<void> {
  const { implementation, close, who, log } = makeService(provider, engineAddress());
  const { server, port } = await listen(providergrpc.ResourceProviderService, implementation, who);
  const stop = (code: number) => {
    close();
    server.forceShutdown();
    process.exit(code);
  };
  onEnd(() => stop(0));
  const uncaught = (error: unknown) => {
    log().warning(`${who}: unexpected error: ${fullMessage(error)}`);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    stop(1);
  };
  process.on("unhandledRejection", uncaught);
  process.on("uncaughtException", uncaught);
  process.stdout.write(`${port}\n`);
}

/** Serves a provider of a few types that needs no configuration. */
export function serveTypes(sdk: Sdk, definitions: readonly ResourceDefinition<undefined>[]): Promise<void> {
  const types = new Map(definitions.map((definition) => [definition.shape.token, definition]));
  const resource = (token: string) => types.get(token);
  return serveProvider<undefined>({ sdk, configure: () => undefined, resource, resources: [...types.keys()] });
}
