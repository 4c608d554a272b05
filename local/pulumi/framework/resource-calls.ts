/** The resource half of pulumirpc.ResourceProvider: from requests to definitions and back. */
import { status } from "@grpc/grpc-js";
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import emptypb from "google-protobuf/google/protobuf/empty_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { checkInputs } from "./accepts.ts";
import { diffInputs } from "./diff.ts";
import { ProviderError, ResourceNotReadyError, redacting } from "./errors.ts";
import { setDiff, setFailures } from "./messages.ts";
import { autoname, type NameRequest } from "./naming.ts";
import type { Created, Current, Log, ProviderDefinition, ResourceContext, ResourceDefinition } from "./provider.ts";
import { unary } from "./rpc.ts";
import { mirrorSecrets } from "./secrets.ts";
import {
  DEFAULTS_KEY,
  importedInputs,
  inputsFromOutputs,
  madeUp,
  previewOfCreate,
  previewOfUpdate,
  recordedOutputs,
  withoutBookkeeping,
} from "./state.ts";
import { type PropertyMap, plainMap, type Value } from "./values.ts";
import { decode, encode } from "./wire.ts";

/** What the calls of a provider share. */
export interface Calls<S> {
  readonly provider: ProviderDefinition<S>;
  /** What `configure` returned. @throws {ProviderError} before that. */
  session(): S;
  readonly signal: AbortSignal;
  log(urn: string): Log;
}

/** A request about a resource. */
interface ResourceMessage {
  getUrn(): string;
  /** Seconds; 0: not set. */
  getTimeout?(): number;
}

/** A decoded request: properties by the names that the method gives them, with their secret marks. */
type Call<S, Q, N extends string> = Record<N, PropertyMap> & {
  request: Q;
  definition: ResourceDefinition<S>;
  context: ResourceContext<S>;
};

/** The methods about resources. */
export function resourceCalls<S>({ provider, session, signal, log }: Calls<S>) {
  /** A method about a resource. Its errors lose the secrets of all properties of the request. */
  const about = <Q extends ResourceMessage, N extends string, R>(
    structs: (request: Q) => Record<N, Struct | undefined>,
    run: (call: Call<S, Q, N>) => R | Promise<R>,
  ) =>
    unary((request: Q) => {
      const urn = request.getUrn();
      const definition = definitionOf(provider, urn);
      const decoded = Object.entries<Struct | undefined>(structs(request)).map(([name, value]) => [
        name,
        decode(value),
      ]);
      const properties = Object.fromEntries(decoded) as Record<N, PropertyMap>;
      const timeoutSeconds = request.getTimeout?.() || undefined;
      return redacting(Object.values<PropertyMap>(properties), async () => {
        const context = { session: session(), urn, name: nameOf(urn), timeoutSeconds, signal, log: log(urn) };
        return run({ ...properties, request, definition, context });
      });
    });

  return {
    /** Automatic name, defaults, refusal of what is unknown or missing, the definition's own check. */
    check: about(
      (request: messages.CheckRequest) => ({ recorded: request.getOlds(), given: request.getNews() }),
      async ({ request, definition, context, recorded, given }) => {
        const naming = { ...context, seed: request.getRandomseed_asU8(), configured: request.hasAutonaming() };
        const { news, made } = fillIn(definition, recorded, withoutBookkeeping(given), naming);
        const failures = checkInputs(definition.shape, definition.accepts, news);
        const olds = withoutBookkeeping(recorded);
        const own = failures.length === 0 ? await definition.check?.({ ...naming, olds, news }) : undefined;
        const inputs = { ...(own?.inputs ?? news), ...(made.length > 0 && { [DEFAULTS_KEY]: made as Value[] }) };
        const response = new provpb.CheckResponse().setInputs(encode(inputs));
        return setFailures(response, [...failures, ...(own?.failures ?? [])]);
      },
    ),

    diff: about(
      (request: messages.DiffRequest) => ({
        olds: request.getOldInputs(),
        state: request.getOlds(),
        news: request.getNews(),
      }),
      async ({ request, definition, context, olds, state, news }) => {
        const [oldInputs, newInputs] = [withoutBookkeeping(olds), withoutBookkeeping(news)];
        const { equals = {} } = definition;
        const replaceOn = definition.update ? (definition.replaceOn ?? []) : "all";
        const own = await definition.diff?.({ ...context, id: request.getId(), oldInputs, state, newInputs });
        return setDiff(new provpb.DiffResponse(), own ?? diffInputs(oldInputs, newInputs, { replaceOn, equals }));
      },
    ),

    create: about(
      (request: messages.CreateRequest) => ({ properties: request.getProperties() }),
      async ({ request, definition, context, properties }) => {
        const inputs = withoutBookkeeping(properties);
        const response = new provpb.CreateResponse();
        if (request.getPreview()) {
          const own = await definition.preview?.({ ...context, inputs, oldInputs: undefined, state: undefined });
          const shown = own ?? previewOfCreate(definition, inputs);
          return response.setProperties(encode(recordedOutputs(definition, shown, [inputs])));
        }
        const start = { inputs, sources: [inputs] };
        const { id, outputs } = await recording<S, Created>(definition, start, () =>
          definition.create({ ...context, inputs: plainMap(inputs) }),
        );
        return response.setId(id).setProperties(encode(recordedOutputs(definition, outputs, start.sources)));
      },
    ),

    /** For a refresh (recorded inputs or state given) or an import; an empty response when the resource is gone. */
    read: about(
      (request: messages.ReadRequest) => ({ state: request.getProperties(), recorded: request.getInputs() }),
      async ({ request, definition, context, state, recorded }) => {
        const id = request.getId();
        const imported = Object.keys(recorded).length === 0 && Object.keys(state).length === 0;
        const rawInputs = imported ? undefined : withoutBookkeeping(recorded);
        const start = { inputs: recorded, sources: [recorded, state] };
        const inputs = rawInputs && plainMap(rawInputs);
        const current = await recording<S, Current | undefined>(definition, start, () =>
          definition.read({ ...context, id, state: plainMap(state), inputs, rawInputs }),
        );
        const response = new provpb.ReadResponse();
        if (!current) return response;
        const outputs = recordedOutputs(definition, current.outputs, start.sources);
        const found =
          current.inputs ??
          (rawInputs ? inputsFromOutputs(definition, rawInputs, outputs) : importedInputs(definition, outputs));
        const defaults = recorded[DEFAULTS_KEY];
        const now = { ...mirrorSecrets(found, recorded), ...(defaults !== undefined && { [DEFAULTS_KEY]: defaults }) };
        return response
          .setId(current.id ?? id)
          .setProperties(encode(outputs))
          .setInputs(encode(now));
      },
    ),

    update: about(
      (request: messages.UpdateRequest) => ({
        olds: request.getOldInputs(),
        state: request.getOlds(),
        news: request.getNews(),
      }),
      async ({ request, definition, context, olds, state, news }) => {
        const [oldInputs, inputs] = [withoutBookkeeping(olds), withoutBookkeeping(news)];
        const response = new provpb.UpdateResponse();
        if (request.getPreview()) {
          const own = await definition.preview?.({ ...context, inputs, oldInputs, state });
          const shown = own ?? previewOfUpdate(definition, state, oldInputs, inputs);
          return response.setProperties(encode(recordedOutputs(definition, shown, [inputs])));
        }
        const change = definition.update?.bind(definition);
        if (!change)
          throw new ProviderError(status.FAILED_PRECONDITION, `${context.urn} cannot be updated, only replaced`);
        const start = { inputs, sources: [inputs] };
        const plain = { oldInputs: plainMap(oldInputs), state: plainMap(state), inputs: plainMap(inputs) };
        const outputs = await recording<S, PropertyMap>(definition, start, () =>
          change({ ...context, id: request.getId(), ...plain }),
        );
        return response.setProperties(encode(recordedOutputs(definition, outputs, start.sources)));
      },
    ),

    delete: about(
      (request: messages.DeleteRequest) => ({ state: request.getProperties(), recorded: request.getOldInputs() }),
      async ({ request, definition, context, state, recorded }) => {
        const inputs = plainMap(withoutBookkeeping(recorded));
        await definition.delete({ ...context, id: request.getId(), state: plainMap(state), inputs });
        return new emptypb.Empty();
      },
    ),
  };
}

/** The definition of a URN's type. @throws {ProviderError} that lists what is implemented. */
function definitionOf<S>({ sdk, resource, resources }: ProviderDefinition<S>, urn: string): ResourceDefinition<S> {
  // `urn:pulumi:stack::project::parent$type::name`
  const token = urn.split("::")[2]?.split("$").at(-1) ?? "";
  const definition = resource(token);
  if (definition) return definition;
  throw new ProviderError(
    status.UNIMPLEMENTED,
    `the stand-in provider ${sdk.name} ${sdk.version} does not implement the resource type ${token}; implemented: ${resources.join(", ")}. Use the official plugin (FLEET_PULUMI_PLUGINS=official) for other types`,
  );
}

const nameOf = (urn: string) => urn.split("::").slice(3).join("::");

function fillIn<S>(definition: ResourceDefinition<S>, olds: PropertyMap, given: PropertyMap, request: NameRequest) {
  const news: PropertyMap = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const made: string[] = [];
  const { autoname: rule, defaults = {} } = definition;
  if (rule && news[rule.property] === undefined) {
    const kept = madeUp(olds).includes(rule.property) ? olds[rule.property] : undefined;
    news[rule.property] = kept ?? autoname(request, rule.maxLength, rule.separator);
    made.push(rule.property);
  }
  for (const [name, value] of Object.entries(defaults)) {
    if (news[name] !== undefined) continue;
    news[name] = value;
    made.push(name);
  }
  return { news, made };
}

/** What an operation starts from, with secret marks. */
interface Start {
  readonly inputs: PropertyMap;
  /** Where the outputs get their marks from. */
  readonly sources: readonly PropertyMap[];
}

/** Runs an operation; the state of a resource that exists but isn't ready is recorded like any other. */
async function recording<S, T>(
  definition: ResourceDefinition<S>,
  start: Start,
  operation: () => Promise<T>,
): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!(error instanceof ResourceNotReadyError)) throw error;
    const inputs = error.inputs ? mirrorSecrets(error.inputs, start.inputs) : start.inputs;
    const outputs = recordedOutputs(definition, error.outputs, start.sources);
    throw new ResourceNotReadyError(error.id, outputs, error.reasons, error.inputs && inputs);
  }
}
