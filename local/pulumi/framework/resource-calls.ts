/** The resource half of pulumirpc.ResourceProvider: from requests to definitions and back. */
import { status } from "@grpc/grpc-js";
import { type CheckFailure, checkInputs } from "./accepts.ts";
import { type Diff, diffInputs } from "./diff.ts";
import { ProviderError, ResourceNotReadyError } from "./errors.ts";
import { autoname, type NameRequest } from "./naming.ts";
import type { Created, Current, Log, ProviderDefinition, ResourceContext, ResourceDefinition } from "./provider.ts";
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

/** Parts of a request that all resource calls share. */
export interface Call<S> {
  readonly session: S;
  readonly urn: string;
  readonly timeoutSeconds: number | undefined;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The definition of a URN's type. @throws {ProviderError} that lists what is implemented. */
export function definitionOf<S>(provider: ProviderDefinition<S>, urn: string): ResourceDefinition<S> {
  const token = tokenOf(urn);
  const definition = provider.resource(token);
  if (definition) return definition;
  throw new ProviderError(
    status.UNIMPLEMENTED,
    `the stand-in provider ${provider.name} ${provider.version} does not implement the resource type ${token}; implemented: ${provider.resources.join(", ")}. Use the official plugin (FLEET_PULUMI_PLUGINS=official) for other types`,
  );
}

/** Type token of a URN: `urn:pulumi:stack::project::parent$type::name`. */
function tokenOf(urn: string): string {
  return urn.split("::")[2]?.split("$").at(-1) ?? "";
}

function context<S>(call: Call<S>): ResourceContext<S> {
  return { ...call, name: call.urn.split("::").slice(3).join("::"), token: tokenOf(call.urn) };
}

/** Check: automatic name, defaults, refusal of what is unknown or missing, the definition's own check. */
export async function check<S>(
  definition: ResourceDefinition<S>,
  call: Call<S>,
  olds: PropertyMap,
  news: PropertyMap,
  naming: Pick<NameRequest, "seed" | "autonaming">,
): Promise<{ inputs: PropertyMap; failures: readonly CheckFailure[] }> {
  const base = context(call);
  const { filled, made } = fillIn(definition, olds, withoutBookkeeping(news), { ...base, ...naming });
  const request = { ...base, ...naming, olds: withoutBookkeeping(olds), news: filled };
  const failures = checkInputs(definition.shape, definition.accepts, filled);
  const own = failures.length === 0 ? await definition.check?.(request) : undefined;
  const inputs = own?.inputs ?? filled;
  const bookkeeping = made.length > 0 ? { [DEFAULTS_KEY]: made as Value[] } : {};
  return { inputs: { ...inputs, ...bookkeeping }, failures: [...failures, ...(own?.failures ?? [])] };
}

function fillIn<S>(definition: ResourceDefinition<S>, olds: PropertyMap, news: PropertyMap, request: NameRequest) {
  const filled: PropertyMap = Object.fromEntries(Object.entries(news).filter(([, value]) => value !== null));
  const made: string[] = [];
  const { autoname: rule, defaults = {} } = definition;
  if (rule && filled[rule.property] === undefined) {
    const kept = madeUp(olds).includes(rule.property) ? olds[rule.property] : undefined;
    filled[rule.property] = kept ?? autoname(request, rule.maxLength, rule.separator);
    made.push(rule.property);
  }
  for (const [name, value] of Object.entries(defaults)) {
    if (filled[name] !== undefined) continue;
    filled[name] = value;
    made.push(name);
  }
  return { filled, made };
}

/** Diff by the definition's hook or by its rules. */
export async function diff<S>(
  definition: ResourceDefinition<S>,
  call: Call<S>,
  request: { id: string; oldInputs: PropertyMap; state: PropertyMap; newInputs: PropertyMap; ignoreChanges: string[] },
): Promise<Diff> {
  const oldInputs = withoutBookkeeping(request.oldInputs);
  const newInputs = withoutBookkeeping(request.newInputs);
  if (definition.diff) return definition.diff({ ...context(call), ...request, oldInputs, newInputs });
  const replaceOn = definition.update ? (definition.replaceOn ?? []) : "all";
  const { properties } = diffInputs(oldInputs, newInputs, { replaceOn, equals: definition.equals ?? {} });
  return { properties, deleteBeforeReplace: definition.deleteBeforeReplace ?? namedByUser(definition, request) };
}

/** With a name that the program fixed and that stays, old and new resource cannot exist side by side. */
function namedByUser<S>(
  definition: ResourceDefinition<S>,
  request: { oldInputs: PropertyMap; newInputs: PropertyMap },
): boolean {
  const property = definition.autoname?.property;
  if (!property) return false;
  const diff = diffInputs(
    { name: request.oldInputs[property] ?? null },
    { name: request.newInputs[property] ?? null },
    { replaceOn: [] },
  );
  return !madeUp(request.newInputs).includes(property) && Object.keys(diff.properties).length === 0;
}

/** Create, really or in a preview (then without an id). */
export async function create<S>(
  definition: ResourceDefinition<S>,
  call: Call<S>,
  inputs: PropertyMap,
  preview: boolean,
): Promise<{ id: string; outputs: PropertyMap }> {
  const rawInputs = withoutBookkeeping(inputs);
  if (preview) {
    const request = { ...context(call), id: undefined, inputs: rawInputs, oldInputs: undefined, state: undefined };
    const outputs = (await definition.preview?.(request)) ?? previewOfCreate(definition, rawInputs);
    return { id: "", outputs: recordedOutputs(definition, outputs, [rawInputs]) };
  }
  const start = { inputs: rawInputs, state: {}, sources: [rawInputs] };
  const created = await recording<S, Created>(definition, start, () =>
    definition.create({ ...context(call), inputs: plainMap(rawInputs), rawInputs }),
  );
  return { id: created.id, outputs: checkpoint(definition, created.outputs, start) };
}

/** Read for a refresh (recorded inputs or state given) or an import; undefined when the resource is gone. */
export async function read<S>(
  definition: ResourceDefinition<S>,
  call: Call<S>,
  id: string,
  state: PropertyMap,
  inputs: PropertyMap,
): Promise<{ id: string; outputs: PropertyMap; inputs: PropertyMap } | undefined> {
  const imported = Object.keys(inputs).length === 0 && Object.keys(state).length === 0;
  const rawInputs = imported ? undefined : withoutBookkeeping(inputs);
  const start = { inputs, state, sources: [inputs, state] };
  const current = await recording<S, Current | undefined>(definition, start, () =>
    definition.read({
      ...context(call),
      id,
      state: plainMap(state),
      inputs: rawInputs && plainMap(rawInputs),
      rawInputs,
    }),
  );
  if (!current) return undefined;
  const outputs = recordedOutputs(definition, current.outputs, start.sources);
  const found =
    current.inputs ??
    (imported ? importedInputs(definition, outputs) : inputsFromOutputs(definition, rawInputs ?? {}, outputs));
  const bookkeeping = DEFAULTS_KEY in inputs ? { [DEFAULTS_KEY]: inputs[DEFAULTS_KEY] as Value } : {};
  const now = { ...mirrorSecrets(found, inputs), ...bookkeeping };
  return { id: current.id ?? id, outputs: checkpoint(definition, outputs, { ...start, inputs: now }), inputs: now };
}

/** Update, really or in a preview. */
export async function update<S>(
  definition: ResourceDefinition<S>,
  call: Call<S>,
  request: { id: string; oldInputs: PropertyMap; state: PropertyMap; newInputs: PropertyMap },
  preview: boolean,
): Promise<PropertyMap> {
  const { id, state } = request;
  const oldInputs = withoutBookkeeping(request.oldInputs);
  const rawInputs = withoutBookkeeping(request.newInputs);
  if (preview) {
    const shown =
      (await definition.preview?.({ ...context(call), id, inputs: rawInputs, oldInputs, state })) ??
      previewOfUpdate(definition, state, oldInputs, rawInputs);
    return recordedOutputs(definition, shown, [rawInputs]);
  }
  if (!definition.update)
    throw new ProviderError(status.FAILED_PRECONDITION, `${tokenOf(call.urn)} cannot be updated, only replaced`);
  const change = definition.update.bind(definition);
  const start = { inputs: rawInputs, state, sources: [rawInputs] };
  const outputs = await recording<S, PropertyMap>(definition, start, () =>
    change({
      ...context(call),
      id,
      oldInputs: plainMap(oldInputs),
      state: plainMap(state),
      inputs: plainMap(rawInputs),
      rawInputs,
    }),
  );
  return checkpoint(definition, outputs, start);
}

/** Delete. */
export async function remove<S>(
  definition: ResourceDefinition<S>,
  call: Call<S>,
  id: string,
  state: PropertyMap,
  inputs: PropertyMap,
): Promise<void> {
  await definition.delete({
    ...context(call),
    id,
    state: plainMap(state),
    inputs: plainMap(withoutBookkeeping(inputs)),
  });
}

/** What an operation starts from, with secret marks. */
interface Start {
  readonly inputs: PropertyMap;
  readonly state: PropertyMap;
  /** Where the outputs get their marks from. */
  readonly sources: readonly PropertyMap[];
}

/** What is recorded of a resource after a real operation. */
function checkpoint<S>(definition: ResourceDefinition<S>, outputs: PropertyMap, start: Start): PropertyMap {
  const own = definition.recorded?.(withoutBookkeeping(start.inputs), start.state);
  return { ...recordedOutputs(definition, outputs, start.sources), ...own };
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
    const outputs = checkpoint(definition, error.outputs, { ...start, inputs });
    throw new ResourceNotReadyError(error.id, outputs, error.reasons, error.inputs && inputs);
  }
}
