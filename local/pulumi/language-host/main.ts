/** The Node.js language host (`pulumi-language-nodejs`): pulumirpc.LanguageRuntime over gRPC. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { ServerWritableStream, UntypedServiceImplementation } from "@grpc/grpc-js";
import languagegrpc from "@pulumi/pulumi/proto/language_grpc_pb.js";
import type * as messages from "@pulumi/pulumi/proto/language_pb.js";
import langpb from "@pulumi/pulumi/proto/language_pb.js";
import pluginpb from "@pulumi/pulumi/proto/plugin_pb.js";
import emptypb from "google-protobuf/google/protobuf/empty_pb.js";
import { engineAddress, onEnd } from "../framework/lifetime.ts";
import { listen, streaming, unary } from "../framework/rpc.ts";
import { openSdk } from "../framework/shape.ts";
import { Children, ended, optionEnvironment, runner, runtimeOptions } from "./children.ts";
import { packageRoot, pluginPackages } from "./packages.ts";

/** Exit code of @pulumi/pulumi's runner when it has already told the user what is wrong. */
const ALREADY_REPORTED = 32;

let engine = engineAddress() ?? "";
const children = new Children();

async function run(request: messages.RunRequest): Promise<messages.RunResponse> {
  const info = request.getInfo();
  const options = runtimeOptions(info);
  const directory = info?.getProgramDirectory() || request.getPwd();
  const flags = {
    monitor: request.getMonitorAddress(),
    engine,
    project: request.getProject(),
    stack: request.getStack(),
    organization: request.getOrganization(),
    "root-directory": info?.getRootDirectory() ?? "",
    pwd: request.getPwd(),
    parallel: String(request.getParallel()),
  };
  const args = [
    ...options.nodeargs,
    runner(directory, "run"),
    ...Object.entries(flags).flatMap(([name, value]) => (value ? [`--${name}`, value] : [])),
    ...(request.getDryrun() ? ["--dry-run"] : []),
    // Relative to --pwd: for "." the runner takes the entry point of package.json.
    info?.getEntryPoint() || ".",
    ...request.getArgsList(),
  ];
  // Configuration holds secrets in plain text: it goes by environment, where only this user can read it, never by argument.
  const env = {
    ...process.env,
    ...optionEnvironment(options),
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().toArray())),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
  };
  const code = await ended(children.start(args, request.getPwd(), env, false));
  const response = new langpb.RunResponse();
  if (code === ALREADY_REPORTED) return response.setBail(true);
  return code === 0 ? response : response.setError(`the program ended with ${describe(code)}`);
}

function describe(code: number | string): string {
  return typeof code === "number" ? `exit code ${code}` : code;
}

async function runPlugin(call: ServerWritableStream<messages.RunPluginRequest, messages.RunPluginResponse>) {
  const request = call.request;
  const info = request.getInfo();
  const options = runtimeOptions(info);
  const directory = info?.getProgramDirectory() ?? request.getPwd();
  const target = path.join(directory, info?.getEntryPoint() || ".");
  // A policy pack's runner takes the engine's address (the last argument) before the program, a provider's runner after it;
  // @pulumi/policy reads the pack's version from package.json in the working directory.
  const analyzer = request.getKind() === "analyzer";
  const args = analyzer
    ? [runner(directory, "run-policy-pack"), ...request.getArgsList(), target]
    : [runner(directory, "run-plugin"), target, ...request.getArgsList()];
  const given = request
    .getEnvList()
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  const env = { ...process.env, ...optionEnvironment(options), ...(Object.fromEntries(given) as NodeJS.ProcessEnv) };
  const child = children.start([...options.nodeargs, ...args], analyzer ? directory : request.getPwd(), env, true);
  const code = await told(child, call, () => new langpb.RunPluginResponse());
  call.write(new langpb.RunPluginResponse().setExitcode(typeof code === "number" ? code : 1));
}

async function installDependencies(
  call: ServerWritableStream<messages.InstallDependenciesRequest, messages.InstallDependenciesResponse>,
) {
  runtimeOptions(call.request.getInfo());
  const directory = call.request.getDirectory() || call.request.getInfo()?.getProgramDirectory() || process.cwd();
  const child = spawn("npm", ["install"], { cwd: packageRoot(directory), stdio: ["ignore", "pipe", "pipe"] });
  const code = await told(child, call, () => new langpb.InstallDependenciesResponse());
  if (code !== 0) throw new Error(`npm install in ${directory} ended with ${describe(code)}`);
}

/** What a response may hold of a child's output. */
interface Output {
  setStdout(data: Uint8Array): this;
  setStderr(data: Uint8Array): this;
}

/** Passes the output of a child on until it ends, and ends it when nobody listens any more; its exit code or signal. */
function told<Q, R extends Output>(child: ChildProcess, call: ServerWritableStream<Q, R>, response: () => R) {
  child.stdout?.on("data", (data: Buffer) => call.write(response().setStdout(data)));
  child.stderr?.on("data", (data: Buffer) => call.write(response().setStderr(data)));
  call.on("cancelled", () => child.kill("SIGTERM"));
  return ended(child);
}

const implementation: UntypedServiceImplementation = {
  handshake: unary((request: messages.LanguageHandshakeRequest) => {
    engine = request.getEngineAddress() || engine;
    return new langpb.LanguageHandshakeResponse();
  }),
  getPluginInfo: unary(() => new pluginpb.PluginInfo().setVersion(openSdk("pulumi").version)),
  getRequiredPackages: unary((request: messages.GetRequiredPackagesRequest) => {
    const packages = pluginPackages(request.getInfo()?.getProgramDirectory() ?? process.cwd());
    return new langpb.GetRequiredPackagesResponse().setPackagesList(
      packages.map(({ name, version, server }) =>
        new pluginpb.PackageDependency().setName(name).setVersion(version).setServer(server).setKind("resource"),
      ),
    );
  }),
  // Asked for with every update, for what a backend shows of it.
  about: unary(() => new langpb.AboutResponse().setExecutable(process.execPath).setVersion(process.version)),
  installDependencies: streaming(installDependencies),
  run: unary(run),
  runPlugin: streaming(runPlugin),
  cancel: unary(() => {
    children.stop();
    return new emptypb.Empty();
  }),
};

const who = "the local Node.js language host, which runs programs, policy packs and providers,";
const { server, port } = await listen(languagegrpc.LanguageRuntimeService, implementation, who);
onEnd(() => {
  children.stop();
  server.forceShutdown();
  process.exit(0);
});
process.stdout.write(`${port}\n`);
