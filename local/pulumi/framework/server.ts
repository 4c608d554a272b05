/** The gRPC service pulumirpc.ResourceProvider over a provider definition, and the process around it. */
import { status } from "@grpc/grpc-js";
import pluginpb from "@pulumi/pulumi/proto/plugin_pb.js";
import providergrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import emptypb from "google-protobuf/google/protobuf/empty_pb.js";
import { checkConfig, decodeConfig, diffConfig } from "./config-calls.ts";
import { connectEngine } from "./engine.ts";
import { fullMessage, ProviderError, toServiceError } from "./errors.ts";
import { callFunction } from "./functions.ts";
import { engineAddress, onEnd } from "./lifetime.ts";
import { autonamingOf, setDiff, setFailures } from "./messages.ts";
import type { ProviderDefinition } from "./provider.ts";
import * as calls from "./resource-calls.ts";
import { listen, unary } from "./rpc.ts";
import { type PropertyMap, plainMap } from "./values.ts";
import { decode, encode } from "./wire.ts";

/** The methods of the service for one provider; `shutdown` aborts what runs. */
function makeService<S>(provider: ProviderDefinition<S>, startAddress: string | undefined) {
  let address = startAddress;
  let engine = connectEngine(address);
  let session: { value: S } | undefined;
  const abort = new AbortController();

  const configured = (): S => {
    if (session) return session.value;
    throw new ProviderError(status.FAILED_PRECONDITION, `the provider ${provider.name} was not configured yet`);
  };
  const callOf = (urn: string, timeoutSeconds = 0): calls.Call<S> => ({
    session: configured(),
    urn,
    timeoutSeconds: timeoutSeconds > 0 ? timeoutSeconds : undefined,
    signal: abort.signal,
    log: engine.log(urn),
  });

  const implementation = {
    handshake: unary((request: messages.ProviderHandshakeRequest) => {
      if (!address && request.getEngineAddress()) {
        address = request.getEngineAddress();
        engine = connectEngine(address);
      }
      return new provpb.ProviderHandshakeResponse()
        .setAcceptSecrets(true)
        .setAcceptResources(true)
        .setAcceptOutputs(true)
        .setSupportsAutonamingConfiguration(true);
    }),
    getPluginInfo: unary(() => new pluginpb.PluginInfo().setVersion(provider.version)),
    checkConfig: unary((request: messages.CheckRequest) => {
      const news = decode(request.getNews());
      const failures = checkConfig(provider, news);
      return setFailures(new provpb.CheckResponse().setInputs(request.getNews()), failures);
    }),
    diffConfig: unary((request: messages.DiffRequest) => {
      const olds = decode(request.getOldInputs() ?? request.getOlds());
      return setDiff(new provpb.DiffResponse(), diffConfig(provider, olds, decode(request.getNews())));
    }),
    configure: unary(async (request: messages.ConfigureRequest) => {
      const config = decodeConfig(provider, decode(request.getArgs()));
      const context = { log: engine.log(""), signal: abort.signal };
      session = { value: await redacting([config], async () => provider.configure(plainMap(config), context)) };
      return new provpb.ConfigureResponse()
        .setAcceptsecrets(true)
        .setAcceptresources(true)
        .setAcceptoutputs(true)
        .setSupportspreview(true)
        .setSupportsAutonamingConfiguration(true);
    }),
    invoke: unary(async (request: messages.InvokeRequest) => {
      const args = decode(request.getArgs());
      const context = {
        session: configured(),
        preview: request.getPreview(),
        signal: abort.signal,
        log: engine.log(""),
      };
      const { outputs, failures } = await redacting([args], () =>
        callFunction(provider, request.getTok(), args, context),
      );
      const response = new provpb.InvokeResponse();
      return setFailures(outputs ? response.setReturn(encode(outputs)) : response, failures);
    }),
    check: unary(async (request: messages.CheckRequest) => {
      const definition = calls.definitionOf(provider, request.getUrn());
      const [olds, news] = [decode(request.getOlds()), decode(request.getNews())];
      const naming = { seed: request.getRandomseed_asU8(), autonaming: autonamingOf(request) };
      const { inputs, failures } = await redacting([olds, news], () =>
        calls.check(definition, callOf(request.getUrn()), olds, news, naming),
      );
      return setFailures(new provpb.CheckResponse().setInputs(encode(inputs)), failures);
    }),
    diff: unary(async (request: messages.DiffRequest) => {
      const definition = calls.definitionOf(provider, request.getUrn());
      const [oldInputs, newInputs] = [decode(request.getOldInputs()), decode(request.getNews())];
      const state = decode(request.getOlds());
      const ignoreChanges = request.getIgnorechangesList();
      const diff = await redacting([oldInputs, newInputs, state], () =>
        calls.diff(definition, callOf(request.getUrn()), {
          id: request.getId(),
          oldInputs,
          state,
          newInputs,
          ignoreChanges,
        }),
      );
      return setDiff(new provpb.DiffResponse(), diff);
    }),
    create: unary(async (request: messages.CreateRequest) => {
      const definition = calls.definitionOf(provider, request.getUrn());
      const inputs = decode(request.getProperties());
      const call = callOf(request.getUrn(), request.getTimeout());
      const { id, outputs } = await redacting([inputs], () =>
        calls.create(definition, call, inputs, request.getPreview()),
      );
      return new provpb.CreateResponse().setId(id).setProperties(encode(outputs));
    }),
    read: unary(async (request: messages.ReadRequest) => {
      const definition = calls.definitionOf(provider, request.getUrn());
      const [state, inputs] = [decode(request.getProperties()), decode(request.getInputs())];
      const call = callOf(request.getUrn(), request.getTimeout());
      const current = await redacting([state, inputs], () =>
        calls.read(definition, call, request.getId(), state, inputs),
      );
      const response = new provpb.ReadResponse();
      if (!current) return response;
      return response.setId(current.id).setProperties(encode(current.outputs)).setInputs(encode(current.inputs));
    }),
    update: unary(async (request: messages.UpdateRequest) => {
      const definition = calls.definitionOf(provider, request.getUrn());
      const [oldInputs, newInputs] = [decode(request.getOldInputs()), decode(request.getNews())];
      const state = decode(request.getOlds());
      const call = callOf(request.getUrn(), request.getTimeout());
      const change = { id: request.getId(), oldInputs, state, newInputs };
      const outputs = await redacting([oldInputs, newInputs, state], () =>
        calls.update(definition, call, change, request.getPreview()),
      );
      return new provpb.UpdateResponse().setProperties(encode(outputs));
    }),
    delete: unary(async (request: messages.DeleteRequest) => {
      const definition = calls.definitionOf(provider, request.getUrn());
      const [state, inputs] = [decode(request.getProperties()), decode(request.getOldInputs())];
      const call = callOf(request.getUrn(), request.getTimeout());
      await redacting([state, inputs], () => calls.remove(definition, call, request.getId(), state, inputs));
      return new emptypb.Empty();
    }),
    construct: unary(async (request: messages.ConstructRequest) => {
      const component = provider.components?.[request.getType()];
      if (component) {
        components ??= await import("./construct.ts");
        return components.construct(component, request, address);
      }
      const known = Object.keys(provider.components ?? {}).join(", ") || "none";
      throw new ProviderError(
        status.UNIMPLEMENTED,
        `the stand-in provider ${provider.name} does not implement the component ${request.getType()}; implemented: ${known}`,
      );
    }),
    cancel: unary(() => {
      abort.abort(new Error("the update was cancelled"));
      return new emptypb.Empty();
    }),
  };
  const close = async () => {
    abort.abort(new Error("the engine is gone"));
    await provider.close?.(session?.value);
    engine.close();
  };
  return { implementation, close, log: () => engine.log("") };
}

/** Runs an operation and cuts the secrets of its properties out of its error. */
async function redacting<T>(properties: readonly PropertyMap[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toServiceError(error, properties);
  }
}

/** Loaded with the first component: it brings the whole SDK, half of the start-up time of a plugin that has none. */
let components: typeof import("./construct.ts") | undefined;

/**
 * Serves a provider as the engine expects of a plugin process: prints the port on stdout and runs until the engine ends it or is gone.
 * The engine's address is the last argument of the process.
 */
export async function serveProvider<S>(provider: ProviderDefinition<S>): Promise<void> {
  const { implementation, close, log } = makeService(provider, engineAddress());
  const who = `the stand-in provider ${provider.name}`;
  const { server, port } = await listen(providergrpc.ResourceProviderService, implementation, who);
  const stop = async (code: number) => {
    await close();
    server.forceShutdown();
    process.exit(code);
  };
  onEnd(() => void stop(0));
  process.on("unhandledRejection", (error) => {
    if (components?.failConstructions(error)) return;
    log().warning(`${provider.name}: unexpected error: ${fullMessage(error)}`);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    void stop(1);
  });
  process.stdout.write(`${port}\n`);
}
