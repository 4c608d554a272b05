import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/sealing/keys.ts";
import { fingerprint } from "../../../cli/sealing/seal.ts";
import { certificate } from "../support/fleet.ts";

const base = mkdtempSync(join(tmpdir(), "fleet-keys-"));
afterAll(() => rmSync(base, { recursive: true }));

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

async function keys(...argv: string[]) {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  const checkouts = ["system", "apps"].flatMap((name) => ["--repository", join(base, name)]);
  try {
    expect(await run([...checkouts, ...argv], async () => outputs, now)).toBe(0);
    return lines.join("\n");
  } finally {
    log.mockRestore();
  }
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

  test("says of a stack that is no hub's how to name one", async () => {
    await expect(run(["--repository", base], async () => ({}))).rejects.toThrow(/sealingCertificates[\s\S]*--stack/);
  });
});
