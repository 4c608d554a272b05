import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import type { FleetFacts } from "../../../cli/fleet/facts.ts";
import { filesBelow } from "../../../cli/render/files.ts";
import { run } from "../../../cli/sealing/command.ts";
import { fingerprint } from "../../../cli/sealing/seal.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { certificate, type fakeKubeseal, newCase } from "../support/fleet.ts";

const base = temporaryFolder("fleet-seal");
const [dev, own, hub] = await Promise.all([certificate(), certificate(), certificate()]);
const secret = "hunter2-and-more";

let checkout: string;
let folder: string;
let kubeseal: ReturnType<typeof fakeKubeseal>;
let fleet: FleetFacts;
const write = (path: string, text: string | Uint8Array): string => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
};
beforeEach(() => {
  ({ checkout, kubeseal, fleet } = newCase(base, "gitops-system", { dev, "cluster-green": own, "cluster-hub": hub }));
  folder = dirname(checkout);
  write("gitops-system/spokes/fleet/blue/spoke.yaml", "spec: { environment: dev }");
  write("gitops-system/spokes/fleet/green/spoke.yaml", "spec: { environment: dev, sealing: cluster }");
  for (const cluster of ["blue", "green"]) write(`gitops-workloads/clusters/${cluster}/shop/kustomization.yaml`, "");
});

/** What the command prints, and what kubeseal got. */
async function seal(line: string, stdin: string | Uint8Array = secret) {
  const told: string[] = [];
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((text) => told.push(String(text)) > 0),
    vi.spyOn(console, "log").mockImplementation((text: string) => void told.push(text)),
    vi.spyOn(console, "error").mockImplementation((text: string) => void told.push(text)),
  ];
  const near = ["--system", checkout, "--workloads", join(folder, "gitops-workloads")];
  const argv = [...line.split(" "), ...near];
  try {
    await run(argv, { connect: async () => fleet, stdin: async () => Buffer.from(stdin) });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return { said: told.join("\n"), call: kubeseal.calls().at(-1) };
}
const valuesOf = (call: ReturnType<typeof kubeseal.calls>[number] | undefined) =>
  Object.fromEntries(Object.entries(call?.input.data ?? {}).map(([key, text]) => [key, Buffer.from(text, "base64")]));
const asked = "--namespace shop --name api";

describe("fleet seal", () => {
  test.each([
    ["blue", "dev", () => dev],
    ["green", "cluster-green", () => own],
    ["hub", "cluster-hub", () => hub],
  ])(
    "seals for the scope of the cluster %s, %s, with its active certificate, and says so",
    async (name, scope, pem) => {
      const { said, call } = await seal(`--cluster ${name} ${asked} --from-stdin token`);
      expect(call?.certificate).toBe(pem());
      expect(call?.input).toMatchObject({ kind: "Secret", metadata: { name: "api", namespace: "shop" } });
      expect(parse(said)).toMatchObject({
        kind: "SealedSecret",
        metadata: {
          annotations: { "fleet.internal/sealed-for": scope, "fleet.internal/sealed-with": fingerprint(pem()) },
        },
      });
    },
  );

  test("takes values from files byte by byte, from files of lines, and from standard input", async () => {
    const bytes = Uint8Array.from([0, 255, 10, 13, 10]);
    const [binary, env] = [
      write("store.jks", bytes),
      write(".env", "# comment\n\nUSER=ada\nURL=a=b \n  QUOTED='x'\r\n"),
    ];
    const line = `--cluster blue ${asked} --from-file ${binary} --from-file key=${binary} --from-env-file ${env} --from-stdin token`;
    const values = valuesOf((await seal(line)).call);
    expect(Object.keys(values).sort()).toEqual(["QUOTED", "URL", "USER", "key", "store.jks", "token"]);
    for (const key of ["store.jks", "key"]) expect([...(values[key] ?? [])]).toEqual([...bytes]);
    expect([values["USER"], values["URL"], values["QUOTED"], values["token"]].map(String)).toEqual([
      ...["ada", "a=b ", "'x'", secret],
    ]);
  });

  test.each([
    ["a single line without its end", `${secret}\n`, secret],
    ["a single line of Windows without its end", `${secret}\r\n`, secret],
    ["several lines as they are", "-----BEGIN\nkey\n", "-----BEGIN\nkey\n"],
  ])("takes of standard input %s", async (_, input, value) => {
    const { call } = await seal(`--cluster blue ${asked} --from-stdin token`, input);
    expect(String(valuesOf(call)["token"])).toBe(value);
  });

  test("gives the Secret the type that is asked for", async () => {
    const { call } = await seal(
      `--cluster blue ${asked} --type kubernetes.io/dockerconfigjson --from-stdin .dockerconfigjson`,
    );
    expect(call?.input).toMatchObject({ type: "kubernetes.io/dockerconfigjson" });
  });

  test("writes into a file, and replaces the same SealedSecret there, but nothing else", async () => {
    const file = join(folder, "gitops-workloads", "api.yaml");
    write("gitops-workloads/kustomization.yaml", "resources: [other.yaml]\n");
    const line = `--cluster blue ${asked} --from-stdin token --output ${file}`;
    expect((await seal(line)).said).toMatch(/sealed for dev\. Next: name it under resources of .*kustomization\.yaml/);
    expect(parse(readFileSync(file, "utf8")).metadata.name).toBe("api");
    // The program in kubeseal's place leaves out what makes it a SealedSecret of Kubernetes.
    const written = readFileSync(file, "utf8");
    writeFileSync(file, `apiVersion: bitnami.com/v1alpha1\n${written}`);
    await seal(line);
    expect(readFileSync(file, "utf8")).toBe(written);
    for (const text of ["kind: ConfigMap\n", written.replace("api", "other"), `${written}---\nkind: ConfigMap\n`]) {
      writeFileSync(file, text);
      await expect(seal(line)).rejects.toThrow("exists, and is not this SealedSecret alone");
      expect(readFileSync(file, "utf8")).toBe(text);
    }
  });

  test("lets the plain text appear nowhere but in the pipe to kubeseal", async () => {
    const before = kubeseal.calls().length;
    const file = join(folder, "api.yaml");
    const { said, call } = await seal(`--cluster blue ${asked} --from-stdin token --output ${file}`);
    for (const form of [secret, Buffer.from(secret).toString("base64")]) {
      expect(said + call?.argv.join(" ")).not.toContain(form);
      for (const each of filesBelow(folder).filter((path) => !path.endsWith("/calls")))
        expect(readFileSync(each, "utf8"), each).not.toContain(form);
    }
    expect(kubeseal.calls()).toHaveLength(before + 1);
  });

  test.each([
    ["an empty standard input", `--from-stdin token`, "", "value of token: is empty"],
    ["more than a Secret can have", `--from-stdin token`, "x".repeat(1024 * 1024 + 1), "are too big for a Secret"],
  ])("refuses %s", async (_, origin, input, problem) => {
    await expect(seal(`--cluster blue ${asked} ${origin}`, input)).rejects.toThrow(problem);
    expect(kubeseal.calls()).toEqual([]);
  });

  test("refuses lines that are not UTF-8, whose values would be others, and reads over a byte order mark", async () => {
    const file = write("latin1.env", Buffer.from("A=caf\xe9\n", "latin1"));
    await expect(seal(`--cluster blue ${asked} --from-env-file ${file}`)).rejects.toThrow(/not UTF-8/);
    expect(kubeseal.calls()).toEqual([]);
    write("latin1.env", "\ufeffA=1\n");
    await seal(`--cluster blue ${asked} --from-env-file ${file}`);
    expect(kubeseal.calls()).toHaveLength(1);
  });

  test.each([
    ["a value in the place of a path", `--from-file token=${secret}`],
    ["a value in the place of key and path", `--from-file ${secret}`],
    ["a value in the place of a line", `--from-env-file ENV`],
    ["a value for an option that is not there", `--from-literal token=${secret}`],
  ])("never shows %s", async (_, origin) => {
    const env = write("env", `A=1\n${secret}\n`);
    const error = await seal(`--cluster blue ${asked} ${origin.replace("ENV", env)}`).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).not.toContain(secret);
  });
});
