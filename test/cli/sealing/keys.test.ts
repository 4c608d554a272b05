import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../../cli/sealing/keys.ts";
import { fingerprint } from "../../../cli/sealing/seal.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { certificate } from "../support/fleet.ts";
import { printing } from "../support/printing.ts";

const base = temporaryFolder("fleet-keys");
const [first, second, tenth, lost] = await Promise.all([certificate(), certificate(), certificate(), certificate()]);
const outputs = {
  sealingCertificates: { prod: { 1: first }, dev: { 10: tenth, 2: second } },
  activeSealingKeys: { dev: "10", prod: "1" },
};
const now = new Date("2020-01-31");

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const sealed = (name: string, pem?: string, scope = "dev") => `apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata:
  name: ${name}
  namespace: shop
${pem === undefined ? "" : `  annotations:\n    fleet.internal/sealed-for: ${scope}\n    fleet.internal/sealed-with: ${fingerprint(pem)}\n`}`;

write("system/spokes/fleet/blue/secrets/gitops-system.yaml", sealed("gitops-system", second));
write("system/both.yaml", `${sealed("a", tenth)}---\n${sealed("b", tenth)}---\nkind: ConfigMap\n`);
write("system/list.json", JSON.stringify({ kind: "List", items: [] }));
write("system/.git/copy.yaml", sealed("hidden", second));
write("apps/api.yaml", sealed("api", first, "prod"));
write("apps/by-hand.yaml", sealed("by-hand"));
write("apps/former.yaml", sealed("former", lost));
write("apps/broken.yaml", `${sealed("broken", first)}  - :\n`);

/** Adds a note of a deploy key to a SealedSecret. */
const withKey = (text: string, publicKey: string, made?: string, former?: string) =>
  `${text}    fleet.internal/deploy-key: ${publicKey}\n${made === undefined ? "" : `    fleet.internal/deploy-key-made: ${made}\n`}${former === undefined ? "" : `    fleet.internal/former-deploy-key: ${former}\n`}`;
const git = sealed("gitops-system", second);
const ofGreen = "ssh-ed25519 Z3JlZW4= green@fleet";
write("keys/spokes/fleet/blue/secrets/gitops-system.yaml", withKey(git, "ssh-ed25519 ZmxlZXQ="));
write("keys/spokes/fleet/red/secrets/gitops-system.yaml", withKey(git, "ssh-ed25519 ZmxlZXQ="));
write("keys/spokes/fleet/green/secrets/gitops-system.yaml", withKey(git, ofGreen, "2020-01-30"));
write(
  "keys/spokes/fleet/green/secrets/next/gitops-system.yaml",
  withKey(git, "ssh-ed25519 bmV4dA== green@fleet 2", "2020-01-31"),
);
write(
  "keys/clusters/green/shop/credential.yaml",
  withKey(git, "ssh-ed25519 c2hvcA== shop@green", "2020-01-01", "unknown"),
);

async function keys(...argv: string[]) {
  return keysOf(["system", "apps"], ...argv);
}

async function keysOf(names: readonly string[], ...argv: string[]) {
  const checkouts = names.flatMap((name) => ["--repository", join(base, name)]);
  const { code, said } = await printing(() => run([...checkouts, ...argv], async () => outputs, now));
  expect(code).toBe(0);
  return said;
}

describe("fleet keys", () => {
  test("shows which generation of each scope seals, its age, its end and how many SealedSecrets it sealed, the oldest first", async () => {
    const [header, ...rows] = (await keys()).split("\n");
    expect(header).toMatch(/^SCOPE +GENERATION +SEALS +MADE +ENDS +SEALED +KEY$/);
    expect(rows.slice(0, 3).map((row) => row.split(/ {2,}/))).toEqual([
      ["dev", "2", "no", "2020-01-01 (30 days)", "2099-01-01", "1", fingerprint(second).slice(0, 12)],
      ["dev", "10", "yes", "2020-01-01 (30 days)", "2099-01-01", "2", fingerprint(tenth).slice(0, 12)],
      ["prod", "1", "yes", "2020-01-01 (30 days)", "2099-01-01", "1", fingerprint(first).slice(0, 12)],
    ]);
  });

  test("names files sealed with a key that the stack does not have, and counts what does not say its key or is not YAML", async () => {
    const text = await keys();
    expect(text).toMatch(/1 SealedSecret sealed with a key that this stack does not have.*\n.*apps\/former\.yaml\n/);
    expect(text).toContain("2 SealedSecrets without a note of what they are sealed with");
  });

  test("writes the same for programs, with the files and without certificates", async () => {
    const { generations, lost: former, unknown } = JSON.parse(await keys("-o", "json"));
    expect(generations[0]).toMatchObject({
      ...{ scope: "dev", generation: "2", seals: false, fingerprint: fingerprint(second) },
      sealed: [{ file: join(base, "system/spokes/fleet/blue/secrets/gitops-system.yaml"), namespace: "shop" }],
    });
    expect(former.map(({ name }: { name: string }) => name)).toEqual(["former"]);
    expect(unknown.map(({ file }: { file: string }) => file)).toEqual([
      join(base, "apps/broken.yaml"),
      join(base, "apps/by-hand.yaml"),
    ]);
    expect(JSON.stringify(generations)).not.toContain("CERTIFICATE");
  });

  test("shows each deploy key with its owner, its age, its fingerprint as the Git host has it, and where its rotation stands", async () => {
    const text = await keysOf(["keys"]);
    const [header = "", ...rows] = text.slice(text.indexOf("DEPLOY KEY")).split("\n");
    expect(header).toMatch(/^DEPLOY KEY +MADE +SEALED +STATE +KEY$/);
    // As printf fleet | openssl sha256 -binary | base64 has it, without the padding.
    const ofFleet = "SHA256:XrLOKRx9In3WhOyD+d3AV3bi/poMTmKSe0WSOD5m+yg";
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, -1))).toEqual([
      ["(the fleet's)", "2", "in use"],
      ["green@fleet", "2020-01-30 (1 days)", "1", "in use"],
      ["green@fleet 2", "2020-01-31 (0 days)", "1", "not used yet"],
      ["shop@green", "2020-01-01 (30 days)", "1", "former one to be removed"],
    ]);
    expect(rows[0]).toContain(ofFleet);
    expect(await keys()).not.toContain("DEPLOY KEY");
    const { deployKeys } = JSON.parse(await keysOf(["keys"], "-o", "json"));
    expect(deployKeys).toContainEqual(
      expect.objectContaining({
        ...{ publicKey: ofGreen, made: "2020-01-30", state: "in use" },
        sealed: [expect.objectContaining({ file: join(base, "keys/spokes/fleet/green/secrets/gitops-system.yaml") })],
      }),
    );
  });

  test("says of a stack that is no hub's how to name one", async () => {
    await expect(run(["--repository", base], async () => ({}))).rejects.toThrow(/sealingCertificates[\s\S]*--stack/);
  });
});
