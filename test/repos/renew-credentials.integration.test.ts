import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { fromBase64 } from "../../lib/base64.ts";
import { mirrored } from "./support/mirrors.ts";
import { credentials, render, withAddons } from "./support/spoke.ts";

/** Prints what `create secret` makes, as JSON, and notes what `apply` reads. */
const KUBECTL = `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const { parseArgs } = require("node:util");
const string = { type: "string" };
const list = { type: "string", multiple: true };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    namespace: string, type: string, filename: string, output: string, "dry-run": string,
    "from-file": list, "from-literal": list, "server-side": { type: "boolean" }, "force-conflicts": { type: "boolean" },
  },
});
const pairs = (given = []) => given.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
if (positionals[0] === "apply") appendFileSync(process.env.APPLIED, readFileSync(0, "utf8") + "\\n");
else
  console.log(JSON.stringify({
    secret: values.namespace + "/" + positionals[3],
    type: values.type ?? "Opaque",
    data: Object.fromEntries([
      ...pairs(values["from-literal"]),
      ...pairs(values["from-file"]).map(([key, file]) => [key, readFileSync(file, "utf8")]),
    ]),
  }));
`;

interface Made {
  readonly secret: string;
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

test("docs/guides/mirrors.md renews on a spoke without a hub what the hub would bring there, in the same form", () => {
  const spoke = render(withAddons("production", ["kyverno", "metrics_server"]), { hub: mirrored });
  const brought = spoke
    .by(`${spoke.spoke.metadata.name}-base`)
    .filter(({ kind }) => kind === "Secret")
    .map(({ metadata, type, data, stringData }) => ({
      secret: `${metadata.namespace}/${metadata.name}`,
      type,
      data: { ...fromBase64((data ?? {}) as Record<string, string>), ...(stringData as object | undefined) },
    }));
  expect(brought.length).toBeGreaterThan(5);

  const text = readFileSync(new URL("../../docs/guides/mirrors.md", import.meta.url), "utf8");
  const [commands] = /^renew\(\) \{[^`]+/m.exec(text) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "renew-credentials-"));
  const applied = join(folder, "applied");
  try {
    writeFileSync(join(folder, "kubectl"), KUBECTL, { mode: 0o755 });
    writeFileSync(join(folder, "config.json"), credentials.pullSecret);
    writeFileSync(join(folder, "password"), `${credentials.chartsPassword}\n`);
    const env = { ...process.env, APPLIED: applied, PATH: [folder, process.env["PATH"]].join(delimiter) };
    execFileSync("bash", ["-euo", "pipefail", "-c", commands ?? ""], { cwd: folder, env });
    const lines = readFileSync(applied, "utf8").split("\n").filter(Boolean);
    const made = lines.map((line) => JSON.parse(line) as Made);
    const sorted = (all: readonly { readonly secret: string }[]) =>
      [...all].sort((a, b) => a.secret.localeCompare(b.secret));
    expect(sorted(made)).toEqual(sorted(brought));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
