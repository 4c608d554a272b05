import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import type { Run } from "../../../cli/doctor/process.ts";
import { run } from "../../../cli/rotation/command.ts";
import { fingerprint } from "../../../cli/sealing/seal.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { certificate, root } from "../support/fleet.ts";
import { printing } from "../support/printing.ts";
import { rejectsLines } from "../support/wrong-lines.ts";

const base = temporaryFolder("fleet-rotation");
/** Certificates by scope and generation. */
const pems: Record<string, string> = {};
for (const name of ["dev/1", "dev/2", "prod/1", "cluster-green/1", "cluster-green/2", "cluster-hub/1", "cluster-hub/2"])
  pems[name] = await certificate();
const print = (name: string) => fingerprint(pems[name] ?? "");

let folder: string;
let stack: string;
const at = (path: string) => join(folder, path);
const read = (path: string) => readFileSync(at(path), "utf8");
const write = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
/** A SealedSecret whose values show the key that opens them. */
const sealed = (name: string, key: string, isNoted = true) => `---
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata:
  name: ${name} # a comment
  namespace: shop
${isNoted ? `  annotations:\n    fleet.internal/sealed-for: ${key.split("/")[0]}\n    fleet.internal/sealed-with: ${print(key)}\n` : ""}spec:
  encryptedData:
    token: ${key} token of ${name}
  template:
    metadata:
      name: ${name}
      labels:
        kept: "true"
`;

const secret = "gitops-system/spokes/fleet/blue/secrets/gitops-system.yaml";
const api = "shop/overlays/dev/api.yaml";
const keys = "gitops-system/spoke-bootstrap/sealing-keys/dev";
beforeEach(() => {
  folder = mkdtempSync(join(base, "case-"));
  stack = at("project/stacks/Pulumi.test.yaml");
  mkdirSync(dirname(stack), { recursive: true });
  cpSync(join(root, "Pulumi.yaml"), at("project/Pulumi.yaml"));
  const names = ["dev", "prod", "cluster-green", "cluster-hub"];
  const lines = names.map((scope) => `    - { scope: ${scope}, generation: "1", active: true }\n`);
  writeFileSync(stack, `config:\n  eks-gitops-fleet:sealingKeys:\n${lines.join("")}`);
  for (const name of ["gitops-system", "gitops-workloads"])
    cpSync(join(root, "repos", name), at(name), { recursive: true });
  write("gitops-system/spokes/fleet/blue/spoke.yaml", "spec: { environment: dev }");
  write("gitops-system/spokes/fleet/red/spoke.yaml", "spec: { environment: prod }");
  write("gitops-system/spokes/fleet/green/spoke.yaml", "spec: { environment: dev, sealing: cluster }");
  write(secret, sealed("gitops-system", "dev/1"));
  write(api, `# two\n${sealed("api", "dev/1")}${sealed("other", "dev/1")}`);
});

interface Listed {
  readonly scope: string;
  readonly generation: string;
  readonly active: boolean;
}
const listed = (): Listed[] => parse(readFileSync(stack, "utf8")).config["eks-gitops-fleet:sealingKeys"];
const ofDev = () =>
  listed()
    .filter(({ scope }) => scope === "dev")
    .map(({ generation, active }) => `${generation} ${active}`);
/** The outputs after pulumi up. */
function outputs() {
  const sealingCertificates: Record<string, Record<string, string>> = {};
  const activeSealingKeys: Record<string, string> = {};
  for (const { scope, generation, active } of listed()) {
    sealingCertificates[scope] = { ...sealingCertificates[scope], [generation]: pems[`${scope}/${generation}`] ?? "" };
    if (active) activeSealingKeys[scope] = generation;
  }
  return { bridgeData: { fleet: "fleet" }, sealingCertificates, activeSealingKeys };
}

/** kubeseal of a cluster with these keys, the youngest first. */
function cluster(...own: readonly string[]) {
  const calls: (readonly string[])[] = [];
  const program: Run = async (name, args, options = {}) => {
    calls.push([name, ...args]);
    if (args.includes("--fetch-cert")) return { code: 0, stdout: pems[own[0] ?? ""] ?? "", stderr: "" };
    const { kind, metadata, spec } = JSON.parse(options.input ?? "");
    // As the controller does: metadata that differ would change the Secret.
    expect(spec.template.metadata).toEqual(metadata);
    const [key = "", ...rest] = spec.encryptedData.token.split(" ");
    if (!own.includes(key))
      return { code: 1, stdout: "", stderr: "error: cannot re-encrypt secret: no key could decrypt secret" };
    const encryptedData = { token: [own[0], ...rest].join(" ") };
    return { code: 0, stdout: JSON.stringify({ kind, metadata, spec: { encryptedData } }), stderr: "" };
  };
  return { calls, program };
}

async function rotate(
  line: string,
  { program = cluster().program, ask = outputs }: { program?: Run; ask?: () => unknown } = {},
) {
  const checkouts = ["gitops-system", "gitops-workloads", "shop"].flatMap((name) => ["--repository", at(name)]);
  const world = { root: at("project"), ask: async () => ask(), program, pause: async () => undefined };
  return printing(() => run([...line.split(" "), "--stack", "test", ...checkouts], world), ["log", "error"]);
}
const documents = (path: string) => parseAllDocuments(read(path)).map((each) => each.toJS());

describe("fleet rotate-key", () => {
  test("leads through a whole rotation, with nothing sealed by a key that a cluster lacks, and nothing lost", async () => {
    expect((await rotate("dev --new")).said).toMatch(
      /^Step 1[\s\S]*change .*Pulumi\.test\.yaml\nNext:\n1\. pulumi up --stack test/,
    );
    expect(ofDev()).toEqual(["1 true", "2 false"]);

    expect((await rotate("dev")).said).toMatch(/^Step 2[\s\S]*sealing-key-2/);
    expect(parse(read(`${keys}/kustomization.yaml`)).resources).toEqual([
      "../store",
      "generation-1.yaml",
      "generation-2.yaml",
    ]);
    const first = read(`${keys}/generation-1.yaml`);
    expect(read(`${keys}/generation-2.yaml`)).toBe(
      first.replaceAll("sealing-key-1", "sealing-key-2").replace(/\/1\n$/, "/2\n"),
    );

    expect((await rotate("dev")).said).toMatch(/^Step 3/);
    expect(ofDev()).toEqual(["1 false", "2 true"]);

    const { said } = await rotate("dev");
    expect(said).toMatch(/^Step 4[\s\S]*3 SealedSecrets sealed with an older generation:/);
    expect(said).toContain("overlays/dev/api.yaml");
    const blue = cluster("dev/2", "dev/1");
    const again = await rotate("dev --context blue", blue);
    expect([again.code, again.said]).toEqual([0, expect.stringContaining("Sealed 3 again.")]);
    expect(documents(api)).toEqual(
      documents(api).map((_, index) => parse(sealed(["api", "other"][index] ?? "", "dev/2"))),
    );
    expect(read(api)).toContain("# two");
    expect(documents(secret)).toEqual([parse(sealed("gitops-system", "dev/2"))]);

    expect((await rotate("dev")).said).toMatch(/^Step 5[\s\S]*remove .*generation-1\.yaml/);
    expect(existsSync(at(`${keys}/generation-1.yaml`))).toBe(false);
    expect(parse(read(`${keys}/kustomization.yaml`)).resources).toEqual(["../store", "generation-2.yaml"]);

    expect((await rotate("dev")).said).toMatch(/^Step 6[\s\S]*pulumi up --stack test, which deletes the key in AWS/);
    expect(ofDev()).toEqual(["2 true"]);
    expect((await rotate("dev")).said).toMatch(/^No rotation of dev is under way: generation 2 is the only one/);
  });

  test("asks the controllers with the context, in the namespace of a spoke's and of the hub's", async () => {
    for (const [scope, namespace] of [
      ["cluster-green", "sealed-secrets"],
      ["cluster-hub", "flux-system"],
    ] as const) {
      write("gitops-system/clusters/fleet/secrets/token.yaml", sealed("token", `${scope}/1`));
      const there = cluster(`${scope}/2`, `${scope}/1`);
      const list = `    - { scope: ${scope}, generation: "1", active: false }\n    - { scope: ${scope}, generation: "2", active: true }\n`;
      writeFileSync(stack, `config:\n  eks-gitops-fleet:sealingKeys:\n${list}`);
      for (const generation of ["1", "2"])
        write(`gitops-system/spokes/fleet/green/sealing-keys/generation-${generation}.yaml`, "");
      expect((await rotate(`${scope} --context there`, there)).said).toContain("Sealed 1 again.");
      for (const call of there.calls)
        expect(call).toEqual(
          expect.arrayContaining(["kubeseal", "--context", "there", "--controller-namespace", namespace]),
        );
      expect(there.calls).toHaveLength(2);
    }
  });

  test("waits for pulumi up wherever config and outputs differ, and changes nothing", async () => {
    const before = outputs();
    await rotate("dev --new");
    const text = readFileSync(stack, "utf8");
    const { code, said } = await rotate("dev", { ask: () => before });
    expect([code, said]).toEqual([
      0,
      expect.stringMatching(/pulumi up makes generation 2 of dev\.\nNext:\n1\. pulumi up/),
    ]);
    expect(readFileSync(stack, "utf8")).toBe(text);
    expect(existsSync(at(`${keys}/generation-2.yaml`))).toBe(false);
  });

  test("with --dry-run shows what it would change, and changes nothing", async () => {
    const text = readFileSync(stack, "utf8");
    const { said } = await rotate("dev --new --dry-run");
    expect(said).toMatch(
      /^Step 1.*\n {2}would change .*Pulumi\.test\.yaml\n--- a\/.*\n\+\+\+ b\/.*Pulumi\.test\.yaml\n@@ /,
    );
    expect(said).toMatch(/^\+.*generation: "2"/m);
    expect(readFileSync(stack, "utf8")).toBe(text);
  });

  test("rotates the hub's key without a file in Git", async () => {
    await rotate("cluster-hub --new");
    expect((await rotate("cluster-hub")).said).toMatch(/^Step 3/);
    expect((await rotate("cluster-hub")).said).toMatch(/^Step 6/);
  });
});

describe("fleet rotate-key, after the state was lost,", () => {
  const formerKey = "eks-gitops-fleet:formerSealingKeys";
  const former = (scope: string, generation: string) => ({
    ...{ scope, generation, arn: `arn:of:${scope}/${generation}`, certificate: pems[`${scope}/${generation}`] ?? "" },
  });
  const lines = (keys: readonly object[]) =>
    stringify({ config: { [formerKey]: keys } }, { lineWidth: 0 }).replace("config:\n", "");
  const formerNow = (): { scope: string; generation: string }[] =>
    parse(readFileSync(stack, "utf8")).config[formerKey] ?? [];
  /** The outputs with former keys, as the program gives them. */
  const withFormer = () => {
    const { sealingCertificates, ...others } = outputs();
    for (const { scope, generation } of formerNow())
      sealingCertificates[scope] = {
        ...sealingCertificates[scope],
        [generation]: pems[`${scope}/${generation}`] ?? "",
      };
    return { ...others, sealingCertificates };
  };
  const next = (line: string, program?: Run) => rotate(line, { ask: withFormer, ...(program && { program }) });
  beforeEach(() => {
    const own = ["dev", "cluster-hub"].map((scope) => `    - { scope: ${scope}, generation: "2", active: true }\n`);
    writeFileSync(
      stack,
      `config:\n  eks-gitops-fleet:sealingKeys:\n${own.join("")}${lines([former("dev", "1"), former("cluster-hub", "1")])}  other:key: value # kept\n`,
    );
  });

  test("knows what former keys sealed, has it sealed again, and lets go of them without a key that is still used", async () => {
    expect((await next("dev")).said).toMatch(/^Step 2/);
    expect((await next("dev")).said).toMatch(/^Step 4[\s\S]*3 SealedSecrets sealed with an older generation:/);
    expect((await next("dev --context blue", cluster("dev/2", "dev/1").program)).said).toContain("Sealed 3 again.");
    expect((await next("dev")).said).toMatch(/^Step 5[\s\S]*remove .*generation-1\.yaml/);
    const { said } = await next("dev");
    expect(said).toMatch(/^Step 6 of 6: generation 1 of dev out of formerSealingKeys of stack test\.\n/);
    expect(said).toContain(
      "1. pulumi up --stack test\n2. aws secretsmanager delete-secret --secret-id fleet/sealing-keys/dev/1:",
    );
    expect(ofDev()).toEqual(["2 true"]);
    expect(formerNow()).toEqual([former("cluster-hub", "1")]);
    expect((await next("dev")).said).toMatch(/^No rotation of dev is under way: generation 2/);
  });

  test("takes the whole list out with the last of them, and leaves everything else", async () => {
    await next("dev");
    for (const line of ["dev --context blue", "dev", "dev"]) await next(line, cluster("dev/2", "dev/1").program);
    expect((await next("cluster-hub")).said).toMatch(/^Step 6/);
    const text = readFileSync(stack, "utf8");
    expect(text).not.toContain("formerSealingKeys");
    expect(text).toMatch(/\n {2}other:key: value # kept\n$/);
  });

  test("waits for the pulumi up that takes them in", async () => {
    expect((await rotate("dev")).said).toMatch(/pulumi up takes in former generation 1 of dev\./);
  });

  test("gives a new generation no name of a former one", async () => {
    const own = `    - { scope: dev, generation: "0", active: true }\n`;
    writeFileSync(stack, `config:\n  eks-gitops-fleet:sealingKeys:\n${own}${lines([former("dev", "1")])}`);
    pems["dev/0"] = pems["dev/2"] ?? "";
    write(`${keys}/generation-0.yaml`, "");
    await next("dev --new");
    expect(ofDev()).toEqual(["0 true", "2 false"]);
  });
});

describe("fleet rotate-key, before older generations go,", () => {
  /** Steps 1 to 3 are done. */
  beforeEach(async () => {
    for (const line of ["dev --new", "dev", "dev"]) await rotate(line);
  });
  const sealAgain = (...own: readonly string[]) => rotate("dev --context blue", cluster(...own));

  test("refuses a cluster that does not seal with the new key", async () => {
    await expect(sealAgain("dev/1")).rejects.toThrow("seals with generation 1 of dev, not with generation 2 of dev");
    await expect(sealAgain("prod/1")).rejects.toThrow("seals with generation 1 of prod");
    expect(read(secret)).toBe(sealed("gitops-system", "dev/1"));
  });

  test("names what a controller can't open, leaves it as it is, and goes on", async () => {
    write(secret, sealed("gitops-system", "dev/1").replace("token: dev/1", "token: prod/1"));
    const before = read(secret);
    const { code, said } = await sealAgain("dev/2", "dev/1");
    expect(code).toBe(1);
    expect(said).toMatch(/Sealed 2 again[\s\S]*Not sealed again: shop\/gitops-system in .*: .*no key could decrypt/);
    expect(read(secret)).toBe(before);
    expect((await rotate("dev")).said).toContain("1 SealedSecret sealed with an older generation");
  });

  test("finds out what secrets without a note are sealed with, and notes it", async () => {
    await sealAgain("dev/2", "dev/1");
    write(api, sealed("api", "dev/1", false));
    expect((await rotate("dev")).said).toMatch(
      /1 SealedSecret without a note of the key[\s\S]*api\.yaml[\s\S]*--ignore-unknown/,
    );
    expect((await sealAgain("dev/2", "dev/1")).said).toContain("Sealed 1 again.");
    expect(documents(api)).toEqual([parse(sealed("api", "dev/2"))]);
  });

  test("waits for secrets without a note of its own scope's clusters and of applications, and no others", async () => {
    await sealAgain("dev/2", "dev/1");
    for (const path of [
      "gitops-system/spokes/fleet/red/secrets",
      "gitops-workloads/clusters/green/shop",
      "gitops-system/spokes/other/x/secrets",
    ])
      write(`${path}/a.yaml`, sealed("a", "prod/1", false));
    write(
      "shop/noted.yaml",
      sealed("b", "prod/1", false).replace(
        "namespace: shop",
        "namespace: shop\n  annotations: { fleet.internal/sealed-for: prod }",
      ),
    );
    expect((await rotate("dev --dry-run")).said).toMatch(/^Step 5/);
    for (const path of [
      "gitops-workloads/clusters/blue/shop/a.yaml",
      "shop/a.yaml",
      "gitops-system/spokes/fleet/blue/secrets/a.yaml",
    ]) {
      write(path, sealed("a", "dev/1", false));
      expect((await rotate("dev --dry-run")).said, path).toMatch(/^Step 4/);
      expect((await rotate("dev --dry-run --ignore-unknown")).said, path).toMatch(/^Step 5/);
      rmSync(at(path));
    }
  });

  test("never lets go of a generation with which something noted is sealed", async () => {
    expect((await rotate("dev --ignore-unknown")).said).toMatch(/^Step 4/);
  });
});

rejectsLines("fleet rotate-key", {
  "dev --stack nowhere --repository {folder}": [
    '--repository: does not name a checkout of gitops-system, in which there are SealedSecrets | ["{folder}"] | every repository with SealedSecrets for dev | give one more: --repository DIR/gitops-system',
    '--repository: does not name a checkout of gitops-workloads, in which there are SealedSecrets | ["{folder}"] | every repository with SealedSecrets for dev | give one more: --repository DIR/gitops-workloads',
  ],
  "cluster-hub --stack nowhere --repository {folder}":
    '--repository: does not name a checkout of gitops-system, in which there are SealedSecrets | ["{folder}"] | every repository with SealedSecrets for cluster-hub | give one more: --repository DIR/gitops-system',
  "dev --stack nowhere --repository {system} --repository {workloads}":
    "--stack: has no file in this project | {cwd}/stacks/Pulumi.nowhere.yaml | a stack of the hub | correct the name: pulumi stack ls",
  "prod --stack dev --repository {system} --repository {workloads} --new":
    "<scope>: has an unknown value | prod | dev | name a scope of sealingKeys in the stack's config",
});
