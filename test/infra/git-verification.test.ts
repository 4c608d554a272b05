import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../lib/base64.ts";
import { readBridgeData } from "../../lib/bridge.ts";
import { problemsWith } from "../support/config-problems.ts";
import { project, type Registered, runStack } from "../support/program.ts";
import { pgpKey, sshKey } from "../support/signers.ts";

const system = { "alice.asc": pgpKey, "bob.sshpub": sshKey };
const workloads = { "bob.sshpub": sshKey };

const keyOf = (value: unknown) => ({ [`${project}:gitVerification`]: JSON.stringify(value) });
const problems = (value: unknown) => problemsWith(keyOf(value));

describe("gitVerification is refused", () => {
  it.each([
    ["of a repository that the fleet does not have", { "payment-app": workloads }],
    ["without anybody who could sign", { "gitops-system": {} }],
    ["as a list", [system]],
    ["with a key that is not in a file by name", { "gitops-system": sshKey }],
    ["with a file of another kind", { "gitops-system": { "bob.pub": sshKey } }],
    ["with a number", { "gitops-system": { "bob.sshpub": 1 } }],
  ])("%s", (_, value) => {
    expect(problems(value)).toMatchObject([
      {
        key: "gitVerification",
        allowed: expect.stringContaining("gitops-system: {<name>.asc: <one public key of OpenPGP"),
        remedy: `pulumi config set --path 'gitVerification["gitops-system"]["<name>.sshpub"]' -- "$(cat <name>.pub)"`,
      },
    ]);
  });

  it("with a private key, which is not shown", () => {
    const armor = pgpKey.replaceAll("PUBLIC", "PRIVATE");
    const found = problems({ "gitops-system": { "a.asc": armor } });
    expect(found).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain(armor.split("\n")[2]);
  });
});

describe("a stack that names the signers of its repositories", async () => {
  const { resources } = await runStack("dev", keyOf({ "gitops-system": system, "gitops-workloads": workloads }));
  const named = (wanted: string) => resources.find(({ name }) => name === wanted) as Registered;

  it("has Flux on the hub apply their commits only", () => {
    const repository = named("gitops-system-repository");
    expect(repository.inputs["spec"]).toMatchObject({
      ref: { branch: "main" },
      verify: { mode: "HEAD", secretRef: { name: "gitops-system-signers" } },
    });
    const keys = named("gitops-system-signers");
    expect(keys.inputs).toMatchObject({ metadata: { name: "gitops-system-signers", namespace: "flux-system" } });
    expect(fromBase64(keys.inputs["data"])).toEqual(system);
    // Before: a repository whose keys are missing is not read.
    expect(repository.dependencies.join()).toContain("Secret::gitops-system-signers");
  });

  it("verifies whatever else the hub reads of it, such as rings, unless Git calls it another's", () => {
    expect(named("gitops-system-root").inputs["spec"].patches).toEqual([
      {
        target: { kind: "GitRepository", labelSelector: "fleet.internal/verification!=none" },
        patch: JSON.stringify([
          { op: "add", path: "/spec/verify", value: { mode: "HEAD", secretRef: { name: "gitops-system-signers" } } },
        ]),
      },
    ]);
  });

  it("tells spokes of both through the bridge", () => {
    const { signers } = readBridgeData(fromBase64(named("cluster-secret-bridge").inputs["data"]));
    expect(signers).toEqual({ gitopsSystem: system, gitopsWorkloads: workloads });
  });
});

describe("by default", async () => {
  const { resources } = await runStack("prod");

  it("every commit is applied, and nothing is made for it", () => {
    const all = JSON.stringify(resources.map(({ name, inputs: { spec } }) => [name, spec]));
    expect(all).not.toMatch(/"verify"|-signers"/);
  });
});
