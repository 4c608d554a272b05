/** Remote components: the plugin runs a piece of a Pulumi program against the engine's resource monitor. */
import { createRequire } from "node:module";
import { status } from "@grpc/grpc-js";
import {
  type Alias,
  type ComponentResourceOptions,
  DependencyProviderResource,
  DependencyResource,
  type Inputs,
  output,
  type ProviderResource,
  rootStackResource,
} from "@pulumi/pulumi";
import type { Alias as AliasMessage } from "@pulumi/pulumi/proto/alias_pb.js";
import type { ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import structpb from "google-protobuf/google/protobuf/struct_pb.js";
import { ProviderError } from "./errors.ts";
import type { Construct } from "./provider.ts";

/**
 * Parts of @pulumi/pulumi 3.250 that its own provider server (provider/server.js) is made of; they are there but not in its types.
 * That server cannot be used as a whole: it drops Configure, previews and secrets of custom resources.
 */
interface Internals {
  deserializeInputs(
    inputs: structpb.Struct,
    dependencies: ReturnType<ConstructRequest["getInputdependenciesMap"]>,
  ): Promise<Inputs>;
  withLocalStorage<T>(run: () => Promise<T>): Promise<T>;
  awaitFeatureSupport(): Promise<void>;
  waitForRPCs(): Promise<void>;
  hookBindingFromProto(hooks: ReturnType<ConstructRequest["getResourceHooks"]>): ComponentResourceOptions["hooks"];
  resetOptions: typeof import("@pulumi/pulumi/runtime/settings.js").resetOptions;
  parseResourceReference(reference: string): [urn: string, id: string];
  setAllConfig(config: Record<string, string>, secretKeys: string[]): void;
  getResourcePackage: typeof import("@pulumi/pulumi/runtime/rpc.js").getResourcePackage;
  serializeResourceProperties: typeof import("@pulumi/pulumi/runtime/rpc.js").serializeResourceProperties;
}

const require = createRequire(import.meta.url);
const internals = Object.assign(
  {},
  ...[
    "resource",
    "provider/server",
    "runtime/state",
    "runtime/settings",
    "runtime/resource",
    "runtime/config",
    "runtime/rpc",
  ].map((module) => require(`@pulumi/pulumi/${module}.js`) as object),
) as Internals;

/** Errors of asynchronous work inside components (outputs that fail) have no other way out than these. */
const pending = new Set<(error: unknown) => void>();

/** Fails every running construction with the error. @returns false when none is running. */
export function failConstructions(error: unknown): boolean {
  for (const fail of pending) fail(error);
  return pending.size > 0;
}

/** Runs a component's constructor for a Construct request. */
export async function construct(
  component: Construct,
  request: ConstructRequest,
  engineAddress: string | undefined,
): Promise<ConstructResponse> {
  if (!engineAddress)
    throw new ProviderError(status.FAILED_PRECONDITION, "a component needs the engine's address, which was not given");
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  pending.add(fail);
  try {
    return await Promise.race([failed, internals.withLocalStorage(() => run(component, request, engineAddress))]);
  } finally {
    pending.delete(fail);
  }
}

async function run(component: Construct, request: ConstructRequest, engineAddress: string): Promise<ConstructResponse> {
  internals.resetOptions(
    request.getProject(),
    request.getStack(),
    request.getParallel(),
    engineAddress,
    request.getMonitorendpoint(),
    request.getDryrun(),
    request.getOrganization(),
  );
  await internals.awaitFeatureSupport();
  internals.setAllConfig(Object.fromEntries(request.getConfigMap().toArray()), request.getConfigsecretkeysList());
  const struct = request.getInputs() ?? structpb.Struct.fromJavaScript({});
  const inputs = await internals.deserializeInputs(struct, request.getInputdependenciesMap());
  const result = await component(request.getName(), inputs, optionsOf(request));
  const label = `construct(${request.getType()}, ${request.getName()})`;
  const [state, dependencies] = await internals.serializeResourceProperties(label, result.state);
  const response = new provpb.ConstructResponse();
  response.setUrn(await promiseOf(result.urn));
  response.setState(structpb.Struct.fromJavaScript(state));
  for (const [name, resources] of dependencies) {
    const list = new provpb.ConstructResponse.PropertyDependencies();
    list.setUrnsList(await Promise.all([...resources].map((resource) => promiseOf(resource.urn))));
    response.getStatedependenciesMap().set(name, list);
  }
  await internals.waitForRPCs();
  return response;
}

/** The value of an output; URNs are known even in previews. */
function promiseOf(value: Parameters<typeof output<string>>[0]): Promise<string> {
  return new Promise((resolve, reject) => {
    (output(value) as unknown as { promise(): Promise<string> }).promise().then(resolve, reject);
  });
}

function optionsOf(request: ConstructRequest): ComponentResourceOptions {
  const providers: Record<string, ProviderResource> = {};
  for (const [pkg, reference] of request.getProvidersMap().toArray()) providers[pkg] = providerOf(reference);
  const parent = request.getParent();
  const deletedWith = request.getDeletedwith();
  const timeouts = request.getCustomtimeouts()?.toObject();
  const hooks = internals.hookBindingFromProto(request.getResourceHooks());
  return {
    aliases: request.getAliasesList().map(aliasOf),
    dependsOn: request.getDependenciesList().map((urn) => new DependencyResource(urn)),
    providers,
    ignoreChanges: request.getIgnorechangesList(),
    replaceOnChanges: request.getReplaceonchangesList(),
    ...(request.hasProtect() ? { protect: request.getProtect() ?? false } : {}),
    ...(request.hasRetainondelete() ? { retainOnDelete: request.getRetainondelete() ?? false } : {}),
    ...(parent ? { parent: new DependencyResource(parent) } : {}),
    ...(deletedWith ? { deletedWith: new DependencyResource(deletedWith) } : {}),
    ...(timeouts ? { customTimeouts: timeouts } : {}),
    ...(hooks ? { hooks } : {}),
  };
}

function providerOf(reference: string): ProviderResource {
  const [urn] = internals.parseResourceReference(reference);
  const [, , qualified = "", name = ""] = urn.split("::");
  const type = qualified.split("$").at(-1) ?? "";
  const pkg = internals.getResourcePackage(type.split(":")[2] ?? "", "");
  return pkg ? pkg.constructProvider(name, type, urn) : new DependencyProviderResource(reference);
}

function aliasOf(message: AliasMessage): string | Alias {
  const spec = message.getSpec();
  if (!spec) return message.getUrn();
  return {
    ...(spec.getName() ? { name: spec.getName() } : {}),
    ...(spec.getType() ? { type: spec.getType() } : {}),
    ...(spec.getProject() ? { project: spec.getProject() } : {}),
    ...(spec.getStack() ? { stack: spec.getStack() } : {}),
    ...(spec.getParenturn() ? { parent: spec.getParenturn() } : {}),
    ...(spec.getNoparent() ? { parent: rootStackResource } : {}),
  };
}
