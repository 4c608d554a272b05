import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { Files } from "../../../cli/render/files.ts";
import { Findings } from "../../../cli/render/findings.ts";
import { FluxBuild } from "../../../cli/render/generate.ts";
import { type Build, kustomize } from "../../../cli/render/kustomize.ts";
import { Trees } from "../../../cli/render/tree.ts";
import { openWorkspace } from "../../../cli/render/workspace.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos } from "../../repos/support/spoke.ts";

let folder: string;
/** A copy of repos/. */
let checkouts: string;
/** A folder of the machine that belongs to no checkout. */
let machine: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fleet-untouched-"));
  checkouts = join(folder, "checkouts");
  machine = join(folder, "machine");
  cpSync(repos, checkouts, { recursive: true });
  mkdirSync(machine);
  writeFileSync(join(machine, "secret"), "canary\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

const entries = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .sort();
const listing = (path: string) =>
  entries(path).map((name) => {
    const { mtimeMs, ctimeMs, mode, size } = lstatSync(name);
    return { name, mtimeMs, ctimeMs, mode, size };
  });

describe("fleet check", () => {
  test("writes nothing into the checkouts, and works on such as can't be written", () => {
    for (const path of entries(checkouts)) chmodSync(path, statSync(path).isDirectory() ? 0o555 : 0o444);
    const before = listing(folder);
    expect(check({ repos: checkouts, build: buildText }).findings).toEqual([]);
    expect(listing(folder)).toEqual(before);
    const workspace = openWorkspace(checkouts);
    // The superuser may write everywhere: what others may do is in the modes.
    expect(entries(workspace.folder).filter((path) => !(statSync(path).mode & 0o200))).toEqual([]);
    // What `components` of the hub's policies may name, and nothing else of the platform.
    expect(workspace.hubAddons).toEqual(["kyverno"]);
    workspace.remove();
    for (const path of entries(checkouts)) chmodSync(path, 0o755);
  });

  test("follows no symbolic link, as Flux fetches none, and says which it left out", () => {
    const system = join(checkouts, "gitops-system");
    const namespaces = join(system, "platform", "namespaces");
    writeFileSync(join(machine, "kustomization.yaml"), readFileSync(join(namespaces, "kustomization.yaml")));
    rmSync(join(namespaces, "kustomization.yaml"));
    symlinkSync(join(machine, "kustomization.yaml"), join(namespaces, "kustomization.yaml"));
    symlinkSync(join(machine, "secret"), join(system, "platform", "link.yaml"));
    symlinkSync(machine, join(system, "platform", "folder"));
    const before = listing(folder);
    const seen: string[] = [];
    const build: Build = (path, scope) => {
      const all = entries(scope.checkout);
      seen.push(...all.filter((name) => !lstatSync(name).isFile() && !lstatSync(name).isDirectory()));
      seen.push(...all.filter((name) => lstatSync(name).isFile() && readFileSync(name, "utf8").includes("canary")));
      return buildText(path, scope);
    };
    const { notes } = check({ repos: checkouts, build });
    expect(seen).toEqual([]);
    expect(notes.filter((note) => note.includes("link"))).toEqual(
      ["platform/folder", "platform/link.yaml", "platform/namespaces/kustomization.yaml"].map(
        (link) => `gitops-system/${link} is a symbolic link, which Flux does not fetch: it was not looked at`,
      ),
    );
    expect(listing(folder)).toEqual(before);
  });
});

describe("kustomize", () => {
  const hidden = '#\u2028configMapGenerator: [{ name: x, files: ["/etc/passwd"] }]\n';
  const base = () => join(checkouts, "payment-app-manifests", "base");

  /** What the tree of a folder is, and the build of it. */
  const built = (path: string, build: Build) => {
    const findings = new Findings();
    const tree = new Trees(checkouts, new Files(), findings).of(path);
    expect(findings.sorted()).toEqual([]);
    return new FluxBuild(build).build(path, {}, { tree, checkout: join(checkouts, "payment-app-manifests") });
  };

  test("reads what was looked at, though its reader of YAML may see more in a file than ours", () => {
    const file = join(base(), "kustomization.yaml");
    writeFileSync(file, hidden, { flag: "a" });
    writeFileSync(
      join(base(), "plugin.yaml"),
      `${hidden}apiVersion: builtin\nkind: LabelTransformer\nmetadata: { name: é }\n`,
    );
    writeFileSync(file, "transformers: [plugin.yaml]\n", { flag: "a" });
    const before = readFileSync(file, "utf8");
    const seen: string[] = [];
    built(base(), (path) => {
      seen.push(...[file, join(path, "plugin.yaml")].map((name) => readFileSync(name, "utf8")));
      return "";
    });
    expect(seen).toEqual([
      JSON.stringify({
        apiVersion: "kustomize.config.k8s.io/v1beta1",
        kind: "Kustomization",
        resources: ["service-account.yaml", "deployment.yaml", "service.yaml", "table.yaml", "queue.yaml"],
        transformers: ["plugin.yaml"],
        buildMetadata: undefined,
      }),
      String.raw`{"apiVersion":"builtin","kind":"LabelTransformer","metadata":{"name":"\U000000e9"}}`,
    ]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("keeps to each kustomization's folder, unless one of them reads a file beside it", () => {
    const scopes: unknown[] = [];
    const build: Build = (_, scope) => {
      scopes.push(scope);
      return "";
    };
    built(base(), build);
    const patch = join(base(), "..", "patch.yaml");
    writeFileSync(patch, "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: payment-app }\n");
    writeFileSync(join(base(), "kustomization.yaml"), "patches: [{ path: ../patch.yaml }]\n", { flag: "a" });
    built(base(), build);
    const checkout = join(checkouts, "payment-app-manifests");
    expect(scopes).toEqual([
      { checkout, reachesOut: false },
      { checkout, reachesOut: true },
    ]);
  });

  test("gets these restrictions and no variable of this process", () => {
    const program = join(folder, "kustomize");
    const script = "process.stdout.write(JSON.stringify([process.argv.slice(2), process.env]))";
    writeFileSync(program, `#!${process.execPath}\n${script}\n`, { mode: 0o755 });
    process.env["FLEET_CANARY"] = "canary";
    try {
      const build = kustomize({ FLEET_KUSTOMIZE: program });
      // A script needs its interpreter, so it can't be alone in a root folder.
      expect(build.notes).toEqual([expect.stringContaining("kustomize was not confined to the checkout")]);
      for (const [reachesOut, restrictor] of [
        [false, "LoadRestrictionsRootOnly"],
        [true, "LoadRestrictionsNone"],
      ] as const)
        expect(JSON.parse(build(machine, { checkout: machine, reachesOut }))).toEqual([
          ["build", `--load-restrictor=${restrictor}`, machine],
          {},
        ]);
    } finally {
      delete process.env["FLEET_CANARY"];
    }
  });

  test("gets of a Flux Kustomization's patches no path to a file, which the API server would drop", () => {
    let seen = "";
    const findings = new Findings();
    const tree = new Trees(checkouts, new Files(), findings).of(base());
    const patches = [{ path: "/etc/passwd", patch: "[]", target: { kind: "Service" } }];
    new FluxBuild((path) => {
      seen = readFileSync(join(path, "kustomization.yaml"), "utf8");
      return "";
    }).build(base(), { patches }, { tree, checkout: checkouts });
    expect(JSON.parse(seen)).toMatchObject({ patches: [{ patch: "[]", target: { kind: "Service" } }] });
    expect(seen).not.toContain("/etc/passwd");
  });
});
