/** The Node.js language host (`pulumi-language-nodejs`): pulumirpc.LanguageRuntime over gRPC. */
import { spawn } from "node:child_process";
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
import { packageRoot, pluginPackages, programDependencies } from "./packages.ts";

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
  child.stdout?.on("data", (data: Buffer) => call.write(new langpb.RunPluginResponse().setStdout(data)));
  child.stderr?.on("data", (data: Buffer) => call.write(new langpb.RunPluginResponse().setStderr(data)));
  call.on("cancelled", () => child.kill("SIGTERM"));
  const code = await ended(child);
  call.write(new langpb.RunPluginResponse().setExitcode(typeof code === "number" ? code : 1));
}

async function installDependencies(
  call: ServerWritableStream<messages.InstallDependenciesRequest, messages.InstallDependenciesResponse>,
) {
  runtimeOptions(call.request.getInfo());
  const directory = call.request.getDirectory() || call.request.getInfo()?.getProgramDirectory() || process.cwd();
  const child = spawn("npm", ["install"], { cwd: packageRoot(directory), stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", (data: Buffer) => call.write(new langpb.InstallDependenciesResponse().setStdout(data)));
  child.stderr.on("data", (data: Buffer) => call.write(new langpb.InstallDependenciesResponse().setStderr(data)));
  call.on("cancelled", () => child.kill("SIGTERM"));
  const code = await ended(child);
  if (code !== 0) throw new Error(`npm install in ${directory} ended with ${describe(code)}`);
}

function requiredPackages(directory: string) {
  return pluginPackages(directory).map(({ name, version, server }) => ({ name, version, server, kind: "resource" }));
}

function about(): messages.AboutResponse {
  const response = new langpb.AboutResponse().setExecutable(process.execPath).setVersion(process.version);
  response.getMetadataMap().set("packagemanager", "npm");
  response.getMetadataMap().set("types", "stripped by Node with `typescript: false`, else ts-node");
  return response;
}

const implementation: UntypedServiceImplementation = {
  handshake: unary((request: messages.LanguageHandshakeRequest) => {
    engine = request.getEngineAddress() || engine;
    return new langpb.LanguageHandshakeResponse();
  }),
  getPluginInfo: unary(() => new pluginpb.PluginInfo().setVersion(openSdk("pulumi").version)),
  getRequiredPlugins: unary((request: messages.GetRequiredPluginsRequest) => {
    const directory = request.getInfo()?.getProgramDirectory() || request.getPwd();
    const plugins = requiredPackages(directory).map(({ name, version, server, kind }) =>
      new pluginpb.PluginDependency().setName(name).setVersion(version).setServer(server).setKind(kind),
    );
    return new langpb.GetRequiredPluginsResponse().setPluginsList(plugins);
  }),
  getRequiredPackages: unary((request: messages.GetRequiredPackagesRequest) => {
    const packages = requiredPackages(request.getInfo()?.getProgramDirectory() ?? process.cwd()).map(
      ({ name, version, server, kind }) =>
        new pluginpb.PackageDependency().setName(name).setVersion(version).setServer(server).setKind(kind),
    );
    return new langpb.GetRequiredPackagesResponse().setPackagesList(packages);
  }),
  getProgramDependencies: unary((request: messages.GetProgramDependenciesRequest) => {
    const directory = request.getInfo()?.getProgramDirectory() || request.getPwd();
    const dependencies = programDependencies(directory, request.getTransitivedependencies()).map(({ name, version }) =>
      new langpb.DependencyInfo().setName(name).setVersion(version),
    );
    return new langpb.GetProgramDependenciesResponse().setDependenciesList(dependencies);
  }),
  about: unary(about),
  // npm is the only package manager here, so `pulumi new` has nothing to ask.
  runtimeOptionsPrompts: unary(() => new langpb.RuntimeOptionsResponse()),
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
