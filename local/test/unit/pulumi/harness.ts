/** A plugin process as the engine sees it: started like the engine does, spoken to over gRPC. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type ClientUnaryCall, credentials, type ServiceError } from "@grpc/grpc-js";
import providergrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import provpb from "@pulumi/pulumi/proto/provider_pb.js";
import statuspb from "@pulumi/pulumi/proto/status_pb.js";
import type { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import emptypb from "google-protobuf/google/protobuf/empty_pb.js";
import type { PropertyMap } from "../../../pulumi/framework/values.ts";
import { decode, encode } from "../../../pulumi/framework/wire.ts";

/** A running plugin. All methods take the type token and the logical name in place of a URN. */
export interface Plugin {
  configure(config: PropertyMap): Promise<void>;
  checkConfig(config: PropertyMap): Promise<Checked>;
  diffConfig(olds: PropertyMap, news: PropertyMap): Promise<Diffed>;
  /** @param proposedName what `pulumi:autonaming` has the engine propose. */
  check(token: string, name: string, news: PropertyMap, olds?: PropertyMap, proposedName?: string): Promise<Checked>;
  diff(token: string, id: string, oldInputs: PropertyMap, newInputs: PropertyMap, state?: PropertyMap): Promise<Diffed>;
  create(
    token: string,
    inputs: PropertyMap,
    options?: { preview?: boolean; timeout?: number; name?: string },
  ): Promise<Recorded>;
  read(
    token: string,
    id: string,
    state?: PropertyMap,
    inputs?: PropertyMap,
  ): Promise<Recorded & { inputs: PropertyMap }>;
  update(
    token: string,
    id: string,
    old: { inputs: PropertyMap; outputs: PropertyMap },
    inputs: PropertyMap,
    preview?: boolean,
  ): Promise<PropertyMap>;
  delete(token: string, id: string, state: PropertyMap, inputs?: PropertyMap): Promise<void>;
  invoke(token: string, args: PropertyMap): Promise<{ outputs: PropertyMap; failures: string[] }>;
  cancel(): Promise<void>;
  readonly process: ChildProcess;
  close(): Promise<void>;
}
interface Checked {
  inputs: PropertyMap;
  /** `property: reason` */
  failures: string[];
}
interface Diffed {
  /** Path to `add`, `delete`, `update`, with `-replace` where a new resource is needed. */
  properties: Record<string, string>;
  changed: boolean;
  deleteBeforeReplace: boolean;
}
interface Recorded {
  id: string;
  outputs: PropertyMap;
}

const KINDS = ["add", "add-replace", "delete", "delete-replace", "update", "update-replace"];

/** Starts `node <main>` and connects. */
export async function startPlugin(main: string, env: Record<string, string> = {}): Promise<Plugin> {
  const path = fileURLToPath(new URL(`../../../../${main}`, import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`${main} ended with ${code} before it printed its port`)));
  });
  const client = new providergrpc.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
  });
  const call = <R>(send: (done: (error: ServiceError | null, response: R) => void) => ClientUnaryCall) =>
    new Promise<R>((resolve, reject) => {
      send((error, response) => (error ? reject(error) : resolve(response)));
    });
  const urn = (token: string, name = "it") => `urn:pulumi:test::project::${token}::${name}`;
  const checked = (response: InstanceType<typeof provpb.CheckResponse>): Checked => ({
    inputs: decode(response.getInputs()),
    failures: response.getFailuresList().map((failure) => `${failure.getProperty()}: ${failure.getReason()}`),
  });
  const diffed = (response: InstanceType<typeof provpb.DiffResponse>): Diffed => {
    const properties: Record<string, string> = {};
    response.getDetaileddiffMap().forEach((diff, path) => {
      properties[path] = KINDS[diff.getKind()] ?? "?";
    });
    return {
      properties,
      changed: response.getChanges() === provpb.DiffResponse.DiffChanges.DIFF_SOME,
      deleteBeforeReplace: response.getDeletebeforereplace(),
    };
  };
  return {
    process: child,
    async configure(config) {
      await call<messages.ConfigureResponse>((done) =>
        client.configure(new provpb.ConfigureRequest().setArgs(encode(config)).setAcceptsecrets(true), done),
      );
    },
    async checkConfig(config) {
      return checked(
        await call<messages.CheckResponse>((done) =>
          client.checkConfig(new provpb.CheckRequest().setNews(encode(config)), done),
        ),
      );
    },
    async diffConfig(olds, news) {
      const request = new provpb.DiffRequest().setOldInputs(encode(olds)).setOlds(encode(olds)).setNews(encode(news));
      return diffed(await call<messages.DiffResponse>((done) => client.diffConfig(request, done)));
    },
    async check(token, name, news, olds = {}, proposedName = undefined) {
      const request = new provpb.CheckRequest()
        .setUrn(urn(token, name))
        .setOlds(encode(olds))
        .setNews(encode(news))
        .setRandomseed(Buffer.alloc(32, 0xab));
      if (proposedName !== undefined)
        request.setAutonaming(new provpb.CheckRequest.AutonamingOptions().setProposedName(proposedName));
      return checked(await call<messages.CheckResponse>((done) => client.check(request, done)));
    },
    async diff(token, id, oldInputs, newInputs, state = {}) {
      const request = new provpb.DiffRequest()
        .setUrn(urn(token))
        .setId(id)
        .setOldInputs(encode(oldInputs))
        .setOlds(encode(state))
        .setNews(encode(newInputs));
      return diffed(await call<messages.DiffResponse>((done) => client.diff(request, done)));
    },
    async create(token, inputs, options = {}) {
      const request = new provpb.CreateRequest()
        .setUrn(urn(token, options.name))
        .setProperties(encode(inputs))
        .setPreview(options.preview ?? false)
        .setTimeout(options.timeout ?? 0);
      const response = await call<messages.CreateResponse>((done) => client.create(request, done));
      return { id: response.getId(), outputs: decode(response.getProperties()) };
    },
    async read(token, id, state = {}, inputs = {}) {
      const request = new provpb.ReadRequest()
        .setUrn(urn(token))
        .setId(id)
        .setProperties(encode(state))
        .setInputs(encode(inputs));
      const response = await call<messages.ReadResponse>((done) => client.read(request, done));
      return { id: response.getId(), outputs: decode(response.getProperties()), inputs: decode(response.getInputs()) };
    },
    async update(token, id, old, inputs, preview = false) {
      const request = new provpb.UpdateRequest()
        .setUrn(urn(token))
        .setId(id)
        .setOldInputs(encode(old.inputs))
        .setOlds(encode(old.outputs))
        .setNews(encode(inputs))
        .setPreview(preview);
      return decode((await call<messages.UpdateResponse>((done) => client.update(request, done))).getProperties());
    },
    async delete(token, id, state, inputs = {}) {
      const request = new provpb.DeleteRequest()
        .setUrn(urn(token))
        .setId(id)
        .setProperties(encode(state))
        .setOldInputs(encode(inputs));
      await call<Empty>((done) => client.delete(request, done));
    },
    async invoke(token, args) {
      const response = await call<messages.InvokeResponse>((done) =>
        client.invoke(new provpb.InvokeRequest().setTok(token).setArgs(encode(args)), done),
      );
      const failures = response.getFailuresList().map((failure) => `${failure.getProperty()}: ${failure.getReason()}`);
      return { outputs: decode(response.getReturn()), failures };
    },
    async cancel() {
      await call<Empty>((done) => client.cancel(new emptypb.Empty(), done));
    },
    async close() {
      client.close();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** What a failed creation or update recorded of the resource, undefined when nothing was. */
export function partialState(error: unknown): (Recorded & { reasons: string[] }) | undefined {
  const [packed] = (error as ServiceError).metadata?.get("grpc-status-details-bin") ?? [];
  if (!Buffer.isBuffer(packed)) return undefined;
  const [detail] = statuspb.Status.deserializeBinary(packed).getDetailsList();
  const failed = detail?.unpack(provpb.ErrorResourceInitFailed.deserializeBinary, "pulumirpc.ErrorResourceInitFailed");
  return failed
    ? { id: failed.getId(), outputs: decode(failed.getProperties()), reasons: failed.getReasonsList() }
    : undefined;
}
