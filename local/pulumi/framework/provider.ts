/** What a plugin author writes: a provider is a table of resource definitions over a session. */
import type { ComponentResourceOptions, Output, Inputs as ProgramInputs } from "@pulumi/pulumi";
import type { CheckFailure } from "./accepts.ts";
import type { Diff } from "./diff.ts";
import type { NameRequest } from "./naming.ts";
import type { ResourceShape } from "./shape.ts";
import type { Json, JsonMap, PropertyMap } from "./values.ts";

/** Messages to the person at the terminal, shown beside the resource. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
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
  /** Type token. */
  readonly token: string;
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
  readonly newInputs: PropertyMap;
  /** Property paths that the program ignores (`ignoreChanges`); the engine has already applied them to the new inputs. */
  readonly ignoreChanges: readonly string[];
}

/** A preview of a creation (no `id`) or an update. */
export interface PreviewRequest<S> extends ResourceContext<S> {
  readonly id: string | undefined;
  readonly inputs: PropertyMap;
  readonly oldInputs: PropertyMap | undefined;
  readonly state: PropertyMap | undefined;
}

/** A real creation: everything is known and in plain text. */
interface CreateRequest<S> extends ResourceContext<S> {
  readonly inputs: JsonMap;
  /** The same inputs with their secret marks, for definitions that place marks themselves. */
  readonly rawInputs: PropertyMap;
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
interface UpdateRequest<S> extends ResourceContext<S> {
  readonly id: string;
  readonly oldInputs: JsonMap;
  readonly state: JsonMap;
  readonly inputs: JsonMap;
  readonly rawInputs: PropertyMap;
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
  /** Secret outputs beyond those that the SDK names. */
  readonly secretOutputs?: readonly string[];
  /** Inputs whose change needs a new resource; `all` is implied when there is no `update`. */
  readonly replaceOn?: readonly string[] | "all";
  /** Always delete the old one first. Missing: only when a replaced resource has an explicit name in `autoname.property`. */
  readonly deleteBeforeReplace?: boolean;
  /** The input that gets a made-up name when the program gives none. */
  readonly autoname?: { readonly property: string; readonly maxLength: number; readonly separator?: string };
  /** Values for inputs that the program leaves out. */
  readonly defaults?: JsonMap;
  /** Comparison by meaning, per input path (`sameJson`, `sameSet`). */
  readonly equals?: Readonly<Record<string, (before: Json, after: Json) => boolean>>;
  /** Outputs that an update may change: unknown in its preview. The others keep their values. */
  readonly changedByUpdate?: readonly string[];
  check?(request: CheckRequest<S>): CheckResult | Promise<CheckResult>;
  /** What is recorded on top of the outputs of a real operation, e.g. for the official plugin. `inputs` and `state` have their secret marks. */
  recorded?(inputs: PropertyMap, state: PropertyMap): PropertyMap;
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
  call(request: { session: S; args: JsonMap; preview: boolean; signal: AbortSignal; log: Log }): Promise<PropertyMap>;
}

/** A remote component: runs inside the plugin with the same SDK that programs use. */
export type Construct = (
  name: string,
  inputs: ProgramInputs,
  options: ComponentResourceOptions,
) => Promise<{ urn: string | Output<string>; state: ProgramInputs }>;

/** Outcome of a check of the provider's own configuration. */
interface ConfigDiffRequest {
  readonly olds: PropertyMap;
  readonly news: PropertyMap;
}

/** A provider plugin. `S` is its session: whatever `configure` makes of the configuration, e.g. SDK clients. */
export interface ProviderDefinition<S> {
  readonly name: string;
  readonly version: string;
  /** Shape of the provider's own configuration (`sdk.provider()`). */
  readonly config: ResourceShape;
  /** Implemented configuration (see accepts.ts). */
  readonly accepts: readonly string[];
  /** Extra checks of the configuration; values may be unknown in previews. */
  checkConfig?(config: PropertyMap): readonly CheckFailure[];
  /** Changes that need every resource of the provider to be replaced are marked `replace`. Missing: none do. */
  diffConfig?(request: ConfigDiffRequest): Diff;
  /** Called once before any resource call; `config` is plain, JSON-encoded values are decoded. */
  configure(config: JsonMap, context: { log: Log; signal: AbortSignal }): S | Promise<S>;
  /** The definition of a type, undefined when the stand-in does not have it. */
  resource(token: string): ResourceDefinition<S> | undefined;
  /** Tokens of all implemented types, for the message that refuses others (a family may be described in words). */
  readonly resources: readonly string[];
  readonly functions?: Readonly<Record<string, FunctionDefinition<S>>>;
  readonly components?: Readonly<Record<string, Construct>>;
  /** Called at the end, e.g. to remove temporary files. */
  close?(session: S | undefined): void | Promise<void>;
}
