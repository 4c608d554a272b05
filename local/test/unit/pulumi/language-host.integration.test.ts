/** The language host as the engine talks to it; @pulumi/pulumi's runners are replaced by scripts that tell what they were given. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { credentials, type ServiceError, status } from "@grpc/grpc-js";
import languagegrpc from "@pulumi/pulumi/proto/language_grpc_pb.js";
import type * as messages from "@pulumi/pulumi/proto/language_pb.js";
import langpb from "@pulumi/pulumi/proto/language_pb.js";
import emptypb from "google-protobuf/google/protobuf/empty_pb.js";
import structpb from "google-protobuf/google/protobuf/struct_pb.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { pluginPackages } from "../../../pulumi/language-host/packages.ts";
import { scratch } from "../../support/scratch.ts";

const main = fileURLToPath(new URL("../../../pulumi/language-host/main.ts", import.meta.url));
const checkout = path.dirname(path.dirname(path.dirname(path.dirname(main))));
const ENGINE = "127.0.0.1:1234";

let folder: string;
let host: ChildProcess;
let client: languagegrpc.LanguageRuntimeClient;

/** Writes a program folder whose @pulumi/pulumi only tells how it was started, then behaves as `behaviour` says. */
function program(name: string, behaviour = ""): string {
  const root = path.join(folder, name);
  for (const runner of ["run", "run-policy-pack", "run-plugin"]) {
    const target = path.join(root, "node_modules", "@pulumi", "pulumi", "cmd", runner);
    mkdirSync(target, { recursive: true });
    const variables = ["PULUMI_CONFIG", "PULUMI_CONFIG_SECRET_KEYS", "PULUMI_NODEJS_TYPESCRIPT", "GIVEN"];
    const env = variables.map((name) => `process.env.${name}`).join(", ");
    const told = `{ runner: ${JSON.stringify(runner)}, args: process.argv.slice(2), flags: process.execArgv, cwd: process.cwd(), env: [${env}] }`;
    writeFileSync(
      path.join(target, "index.js"),
      `require("fs").writeFileSync(${JSON.stringify(path.join(root, "told.json"))}, JSON.stringify(${told}));\n${behaviour}`,
    );
  }
  writeFileSync(
    path.join(root, "node_modules", "@pulumi", "pulumi", "package.json"),
    '{ "name": "@pulumi/pulumi", "version": "9.9.9" }',
  );
  writeFileSync(path.join(root, "package.json"), '{ "dependencies": { "@pulumi/pulumi": "*" } }');
  return root;
}

type Told = Record<"runner" | "cwd", string> & Record<"args" | "flags" | "env", string[]>;
const told = (root: string): Told => JSON.parse(readFileSync(path.join(root, "told.json"), "utf8"));

type Options = Record<string, structpb.JavaScriptValue>;

function info(root: string, options: Options = { typescript: false }): messages.ProgramInfo {
  return new langpb.ProgramInfo()
    .setRootDirectory(root)
    .setProgramDirectory(path.join(root, "infra"))
    .setEntryPoint(".")
    .setOptions(structpb.Struct.fromJavaScript(options));
}

/** The answer to a call of the host. */
const answerOf = <T>(call: (done: (error: ServiceError | null, value: T) => void) => unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)));
  });

function run(root: string, options?: Options): Promise<messages.RunResponse> {
  mkdirSync(path.join(root, "infra"), { recursive: true });
  const request = new langpb.RunRequest()
    .setProject("project")
    .setStack("stack")
    .setOrganization("organization")
    .setPwd(path.join(root, "infra"))
    .setParallel(8)
    .setDryrun(true)
    .setMonitorAddress("127.0.0.1:99")
    .setConfigsecretkeysList(["project:token"])
    .setInfo(info(root, options));
  request.getConfigMap().set("project:token", "a-secret-token");
  return answerOf((done) => client.run(request, done));
}

beforeAll(async () => {
  folder = scratch("language-host-");
  host = spawn(process.execPath, [main, ENGINE], { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise<string>((resolve) =>
    createInterface({ input: host.stdout as NodeJS.ReadableStream }).once("line", resolve),
  );
  client = new languagegrpc.LanguageRuntimeClient(`127.0.0.1:${port}`, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  const ended = new Promise((resolve) => host.once("exit", resolve));
  host.kill("SIGINT");
  await ended;
});

test("a program runs in its own folder with everything it needs; secrets go by environment, not by argument", async () => {
  const root = program("good");
  const response = await run(root, { typescript: false, nodeargs: "--max-old-space-size=512" });
  expect([response.getError(), response.getBail()]).toEqual(["", false]);
  const { args, flags, cwd, env } = told(root);
  expect(args).toEqual([
    ...`--monitor 127.0.0.1:99 --engine ${ENGINE} --project project --stack stack`.split(" "),
    ...["--organization", "organization"],
    ...["--root-directory", root, "--pwd", path.join(root, "infra"), "--parallel", "8", "--dry-run", "."],
  ]);
  expect(flags).toEqual(["--max-old-space-size=512"]);
  expect(cwd).toBe(path.join(root, "infra"));
  expect(env.slice(0, 3)).toEqual(['{"project:token":"a-secret-token"}', '["project:token"]', "false"]);
});

test("without `typescript: false` Pulumi's own TypeScript runner is used", async () => {
  const root = program("typescript");
  await run(root, {});
  expect(told(root).env[2]).toBe("true");
});

test("exit code 32 bails (the user was told), any other fails with it, a missing @pulumi/pulumi says what to do", async () => {
  expect((await run(program("bails", "process.exit(32)"))).getBail()).toBe(true);
  expect((await run(program("fails", "process.exit(3)"))).getError()).toBe("the program ended with exit code 3");
  expect(
    (await run(program("killed", "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)"))).getError(),
  ).toContain("SIGTERM");
  const bare = path.join(folder, "bare");
  mkdirSync(bare);
  await expect(run(bare)).rejects.toThrow(/has no @pulumi\/pulumi in reach: run npm install/);
  await expect(run(program("yarn"), { packagemanager: "yarn" })).rejects.toThrow(
    "packagemanager: got yarn, this language host knows npm",
  );
});

test("cancellation ends the program", async () => {
  const root = program("long", "setInterval(() => {}, 1000)");
  const running = run(root);
  await expect.poll(() => existsSync(path.join(root, "told.json"))).toBe(true);
  await answerOf((done) => client.cancel(new emptypb.Empty(), done));
  expect((await running).getError()).toContain("SIGTERM");
});

test.each([
  [
    "analyzer",
    "run-policy-pack",
    (root: string) => [ENGINE, path.join(root, "infra")],
    (root: string) => path.join(root, "infra"),
  ],
  ["resource", "run-plugin", (root: string) => [path.join(root, "infra"), ENGINE], (root: string) => root],
])("a %s plugin runs with its output, environment and exit code", async (kind, runner, args, cwd) => {
  const root = program(kind, "console.log('to stdout'); console.error('to stderr'); process.exitCode = 7;");
  mkdirSync(path.join(root, "infra"), { recursive: true });
  const request = new langpb.RunPluginRequest()
    .setKind(kind)
    .setPwd(root)
    .setArgsList([ENGINE])
    .setEnvList(["GIVEN=a=b"])
    .setInfo(info(root));
  const output = { stdout: "", stderr: "", code: -1 };
  await new Promise<void>((resolve, reject) => {
    client
      .runPlugin(request)
      .on("data", (message: messages.RunPluginResponse) => {
        output.stdout += Buffer.from(message.getStdout_asU8()).toString();
        output.stderr += Buffer.from(message.getStderr_asU8()).toString();
        if (message.getOutputCase() === langpb.RunPluginResponse.OutputCase.EXITCODE)
          output.code = message.getExitcode();
      })
      .on("error", reject)
      .on("end", resolve);
  });
  expect(output).toEqual({ stdout: "to stdout\n", stderr: "to stderr\n", code: 7 });
  const started = told(root);
  expect(started).toMatchObject({ runner, args: args(root), cwd: cwd(root) });
  expect(started.env[3]).toBe("a=b");
});

test("plugins can be installed for every package of the checkout, in the versions of the SDKs", async () => {
  const { main: folder = "" } = parse(readFileSync(path.join(checkout, "Pulumi.yaml"), "utf8")) as { main?: string };
  const request = new langpb.GetRequiredPackagesRequest().setInfo(
    new langpb.ProgramInfo().setRootDirectory(checkout).setProgramDirectory(path.join(checkout, folder)),
  );
  const response = await answerOf<messages.GetRequiredPackagesResponse>((done) =>
    client.getRequiredPackages(request, done),
  );
  const packages = response.getPackagesList().map((item) => `${item.getKind()} ${item.getName()} ${item.getVersion()}`);
  const { dependencies, main: program } = JSON.parse(readFileSync(path.join(checkout, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
    main: string;
  };
  const expected = ["aws", "eks", "kubernetes", "random", "tls"].map(
    (name) => `resource ${name} ${dependencies[`@pulumi/${name}`]}`,
  );
  expect(packages).toEqual(expected);
  expect(existsSync(path.join(checkout, folder, program))).toBe(true);
});

test("packages are looked for in the program's folder and below, as by the official host", () => {
  const root = program("nested");
  const provider = (folder: string, name: string) => {
    mkdirSync(path.join(folder, name), { recursive: true });
    const pulumi = { resource: true, name, version: "2.0.0", server: "https://x" };
    writeFileSync(
      path.join(folder, name, "package.json"),
      JSON.stringify({ name: `pulumi-${name}`, version: "1.0.0", pulumi }),
    );
  };
  provider(path.join(root, "infra", "node_modules"), "other");
  provider(path.join(root, "infra", "node_modules", "other", "node_modules"), "inner");
  provider(path.join(root, "node_modules"), "above");
  expect(pluginPackages(path.join(root, "infra"))).toEqual([
    { name: "inner", version: "2.0.0", server: "https://x" },
    { name: "other", version: "2.0.0", server: "https://x" },
  ]);
});

test("a method that the host lacks is refused by name", async () => {
  const error = await new Promise<ServiceError | null>((resolve) => {
    client.generateProgram(new langpb.GenerateProgramRequest(), (refusal) => resolve(refusal));
  });
  expect(error?.code).toBe(status.UNIMPLEMENTED);
  expect(error?.details).toContain("does not implement generateProgram");
});
