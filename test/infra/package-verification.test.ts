import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../lib/base64.ts";
import { problemsWith } from "../support/config-problems.ts";
import { project, type Registered, runStack } from "../support/program.ts";

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = pair.publicKey.export({ type: "spki", format: "pem" }) as string;
const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }) as string;

const ofFunction = {
  name: "function",
  prefix: "ghcr.io/example/function-spoke",
  issuer: "https://token.actions.githubusercontent.com",
  subject: "^https://github\\.com/example/fleet/\\.github/workflows/release\\.yml@refs/tags/v.*$",
};
const ofMirror = { name: "mirror", prefix: "registry.example.com:5000/mirror/xpkg.crossplane.io/", key };

const keyOf = (value: unknown) => ({ [`${project}:packageVerification`]: JSON.stringify(value) });
const problems = (value: unknown) => problemsWith(keyOf(value));
const without = <T extends object>(value: T, ...names: (keyof T)[]) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.some((each) => each === name)));

describe("packageVerification is refused", () => {
  it.each([
    ["without anybody who signs", [without(ofMirror, "key")]],
    ["with a key and an identity, of which Crossplane would take one", [{ ...ofFunction, key }]],
    ["with an issuer whose every workflow could sign", [without(ofFunction, "subject")]],
    ["with a subject of any issuer", [without(ofFunction, "issuer")]],
    ["with a subject that would match in the middle of another", [{ ...ofFunction, subject: "release\\.yml" }]],
    ["with a subject that ends with a dollar of its own", [{ ...ofFunction, subject: "^https://example\\$" }]],
    ["with a subject of which one part alone begins at the beginning", [{ ...ofFunction, subject: "^https://a|b$" }]],
    ["with a subject that is not a regular expression", [{ ...ofFunction, subject: "^($" }]],
    ["with a prefix that names no host", [{ ...ofMirror, prefix: "function-spoke" }]],
    ["with a prefix with a scheme", [{ ...ofMirror, prefix: "oci://ghcr.io/example" }]],
    ["with a name that is none of Kubernetes", [{ ...ofMirror, name: "The mirror" }]],
    ["with an unknown member", [{ ...ofMirror, attestations: [] }]],
    ["with a certificate for a key", [{ ...ofMirror, key: key.replaceAll("PUBLIC KEY", "CERTIFICATE") }]],
  ])("%s", (_, value) => {
    expect(problems(value)).toMatchObject([{ key: "packageVerification", what: "has a value that is not allowed" }]);
  });

  it("not for a subject with alternatives in parentheses, brackets and escaped characters", () => {
    const subject = "^https://github\\.com/(example|sample)/fleet[(|]\\|\\$/(a(b|c))@refs/tags/v.*$";
    expect(problems([{ ...ofFunction, subject }])).toEqual([]);
  });

  it.each(["name", "prefix"] as const)("with the same %s twice", (part) => {
    expect(problems([ofFunction, { ...ofMirror, [part]: ofFunction[part] }])).toMatchObject([
      { key: "packageVerification", what: `uses a ${part} twice`, got: ofFunction[part] },
    ]);
  });

  it("with a prefix that no package has once they all come from one registry", () => {
    const registry = "111111111111.dkr.ecr.eu-central-1.amazonaws.com/mirror";
    const ofRegistry = (prefix: string) =>
      problemsWith({ ...keyOf([{ ...ofFunction, prefix }]), [`${project}:registry`]: registry });
    expect(ofRegistry(ofFunction.prefix)).toMatchObject([
      { key: "packageVerification", remedy: expect.stringContaining(`change it to ${registry}/${ofFunction.prefix}`) },
    ]);
    expect(ofRegistry(`${registry}/${ofFunction.prefix}`)).toEqual([]);
  });

  it("with a private key, which is not shown", () => {
    const found = problems([{ ...ofMirror, key: privateKey }]);
    expect(found).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain(privateKey.split("\n")[1]);
  });
});

interface Spec {
  readonly matchImages: readonly object[];
  readonly verification: object;
}

describe("a stack that says whose signatures packages must have", async () => {
  const { resources } = await runStack("dev", keyOf([ofFunction, ofMirror]));
  const named = (wanted: string) => resources.find(({ name }) => name === wanted) as Registered;

  it("has Crossplane verify packages, with the roots of trust in memory", () => {
    const { values } = named("crossplane-release").inputs;
    expect(values.args).toContain("--enable-signature-verification");
    expect(values.extraEnvVarsCrossplane).toEqual({ SIGSTORE_NO_CACHE: "true" });
  });

  it("asks for the certificate of a workflow, or for a key that is beside Crossplane", () => {
    const asked = (name: string) => {
      const { kind, spec } = named(`package-verification-${name}`).inputs as { kind?: string; spec?: Spec };
      return { kind, ...spec };
    };
    const cosign = (authority: object) => ({ provider: "Cosign", cosign: { authorities: [authority] } });
    const { issuer, subject: subjectRegExp } = ofFunction;
    expect(asked("function")).toEqual({
      kind: "ImageConfig",
      matchImages: [{ type: "Prefix", prefix: ofFunction.prefix }],
      verification: cosign({ name: "function", keyless: { identities: [{ issuer, subjectRegExp }] } }),
    });
    const secretRef = { name: "package-verification-mirror", key: "cosign.pub" };
    expect(asked("mirror")).toMatchObject({
      verification: cosign({ name: "mirror", key: { secretRef, hashAlgorithm: "sha256" } }),
    });
    const secret = named("package-verification-mirror-key").inputs;
    expect(secret).toMatchObject({ metadata: { name: secretRef.name, namespace: "crossplane-system" } });
    expect(fromBase64(secret["data"])).toEqual({ "cosign.pub": key });
  });

  it("does both after Crossplane, which brings the kind, and before Git brings packages", () => {
    expect(named("package-verification-mirror").dependencies).toEqual(
      expect.arrayContaining([
        "kubernetes:helm.sh/v3:Release::crossplane-release",
        "kubernetes:core/v1:Secret::package-verification-mirror-key",
      ]),
    );
    expect(named("gitops-system").dependencies.join()).toContain("ImageConfig::package-verification-function");
  });
});

it("by default no package is verified, and Crossplane asks nobody for roots of trust", async () => {
  const { resources } = await runStack("prod");
  expect(JSON.stringify(resources.map(({ name, inputs }) => [name, inputs["values"]]))).not.toMatch(
    /package-verification|signature-verification|SIGSTORE/,
  );
});
