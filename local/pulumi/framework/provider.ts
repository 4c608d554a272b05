/** What a plugin author writes: a provider is a table of resource definitions over a session. */
import type { CheckFailure } from "./accepts.ts";
import type { Diff } from "./diff.ts";
import type { NameRequest } from "./naming.ts";
import type { ResourceShape, Sdk } from "./shape.ts";
import type { Json, JsonMap, PropertyMap } from "./values.ts";

/** Messages to the person at the terminal, shown beside the resource. */
export interface Log {
  debug(message: string): void;
  warning(message: string): void;
  /** Progress: shown on the resource's line and replaced by the next one. */
  status(message: string): void;
}

/** What every call about a resource knows. */
export interface ResourceContext<S> {
  /** What `configure` returned. */
  readonly session: S;
  readonly urn: string;
  /** Logical name. */
  readonly name: string;
  /** Aborted when the user cancels the update: long waits must end then. */
  readonly signal: AbortSignal;
  /** `customTimeouts` of this operation in seconds, undefined when not set. */
  readonly timeoutSeconds: number | undefined;
  readonly log: Log;
}

/** Inputs before they are used: may hold unknowns (previews) and secrets. */
export interface CheckRequest<S> extends ResourceContext<S>, NameRequest {
  /** Inputs of the last update, empty for a new resource. */
  readonly olds: PropertyMap;
  /** New inputs with the automatic name already in place. */
  readonly news: PropertyMap;
}

/** Outcome of a check hook. */
export interface CheckResult {
  /** Inputs to go on with (e.g. with defaults); missing: those of the request. */
  readonly inputs?: PropertyMap;
  readonly failures?: readonly CheckFailure[];
}

/** Old against new, both possibly with secrets, the new ones possibly with unknowns. */
export interface DiffRequest<S> extends ResourceContext<S> {
  readonly id: string;
  readonly oldInputs: PropertyMap;
  readonly state: PropertyMap;
  /** The engine has already applied `ignoreChanges`. */
  readonly newInputs: PropertyMap;
}

/** A preview of a creation (no old inputs and state) or an update. */
export interface PreviewRequest<S> extends ResourceContext<S> {
  readonly inputs: PropertyMap;
  readonly oldInputs: PropertyMap | undefined;
  readonly state: PropertyMap | undefined;
}

/** A real creation: everything is known and in plain text. */
interface CreateRequest<S> extends ResourceContext<S> {
  readonly inputs: JsonMap;
}

/** A new resource. Outputs may hold {@link Secret}s; marks of secret inputs are carried over to them. */
export interface Created {
  readonly id: string;
  readonly outputs: PropertyMap;
}

/** A refresh (with the last state and inputs) or an import (only the id). */
interface ReadRequest<S> extends ResourceContext<S> {
  readonly id: string;
  readonly state: JsonMap;
  /** Inputs of the last update; undefined for an import. */
  readonly inputs: JsonMap | undefined;
  /** The same with their secret marks. */
  readonly rawInputs: PropertyMap | undefined;
}

/** A resource as it really is. */
export interface Current {
  /** Only when it changed (e.g. an import by another name). */
  readonly id?: string;
  readonly outputs: PropertyMap;
  /** Inputs that would make the resource what it is; missing: derived from the outputs (see {@link inputsFromOutputs}). */
  readonly inputs?: PropertyMap;
}

/** A real update. */
export interface UpdateRequest<S> extends ResourceContext<S> {
  readonly id: string;
  readonly oldInputs: JsonMap;
  readonly state: JsonMap;
  readonly inputs: JsonMap;
}

/** A deletion. */
interface DeleteRequest<S> extends ResourceContext<S> {
  readonly id: string;
  readonly state: JsonMap;
  readonly inputs: JsonMap;
}

/** One resource type. Only `shape`, `create`, `read` and `delete` are needed. */
export interface ResourceDefinition<S> {
  readonly shape: ResourceShape;
  /** Implemented input paths (see accepts.ts); missing: every input of the shape with anything in it. */
  readonly accepts?: readonly string[];
  /** Inputs whose change needs a new resource; `all` is implied when there is no `update`. */
  readonly replaceOn?: readonly string[] | "all";
  /** The input that gets a made-up name when the program gives none. */
  readonly autoname?: { readonly property: string; readonly maxLength: number; readonly separator?: string };
  /** Values for inputs that the program leaves out. */
  readonly defaults?: JsonMap;
  /** Comparison by meaning, per input path (`sameJson`, `sameSet`). */
  readonly equals?: Readonly<Record<string, (before: Json, after: Json) => boolean>>;
  /** Outputs that an update may change: unknown in its preview. The others keep their values. */
  readonly changedByUpdate?: readonly string[];
  check?(request: CheckRequest<S>): CheckResult | Promise<CheckResult>;
  /** In place of the comparison of inputs by the rules above. */
  diff?(request: DiffRequest<S>): Diff | Promise<Diff>;
  /** Outputs that a preview shows, in place of inputs plus unknown outputs. */
  preview?(request: PreviewRequest<S>): PropertyMap | Promise<PropertyMap>;
  create(request: CreateRequest<S>): Promise<Created>;
  /** Undefined when the resource is gone. */
  read(request: ReadRequest<S>): Promise<Current | undefined>;
  /** Returns the outputs. */
  update?(request: UpdateRequest<S>): Promise<PropertyMap>;
  /** A resource that is already gone counts as deleted. */
  delete(request: DeleteRequest<S>): Promise<void>;
}

/** A function of the package (`aws.getCallerIdentity`): plain arguments in, outputs out. */
interface FunctionDefinition<S> {
  /** Allowed arguments. */
  readonly arguments: readonly string[];
  readonly required?: readonly string[];
  call(request: { session: S; args: JsonMap }): Promise<PropertyMap>;
}

/** A provider plugin. `S` is its session: whatever `configure` makes of the configuration, e.g. SDK clients. */
export interface ProviderDefinition<S> {
  /** The SDK that the plugin serves: it has its name and version. */
  readonly sdk: Sdk;
  /** Implemented configuration (see accepts.ts). Missing: none. */
  readonly accepts?: readonly string[];
  /** Extra checks of the configuration; values may be unknown in previews. */
  checkConfig?(config: PropertyMap): readonly CheckFailure[];
  /** Called once before any resource call; `config` is plain, JSON-encoded values are decoded. */
  configure(config: JsonMap): S | Promise<S>;
  /** The definition of a type, undefined when the stand-in does not have it. */
  resource(token: string): ResourceDefinition<S> | undefined;
  /** Tokens of all implemented types, for the message that refuses others. */
  readonly resources: readonly string[];
  readonly functions?: Readonly<Record<string, FunctionDefinition<S>>>;
}
