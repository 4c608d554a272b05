import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { alone, underWay } from "../../../cli/command.ts";
import { removeThroughGit, unprotect, withoutFolder } from "../../../cli/spoke-removal.ts";
import { chainLine, isSpokeReady, otherAccountOf, type Spoke, spokeLine, spokesOf } from "../../../cli/spokes.ts";
import { listFolder } from "../../../git/index.ts";
import { git, publish } from "../../../git/repositories.ts";
import { scratch } from "../../support/scratch.ts";

const base = scratch("fleet-spokes-");

const spoke = (name: string, change: Partial<Spoke> = {}): Spoke => ({ metadata: { name }, spec: {}, ...change });
const ready = (status: string) => ({ conditions: [{ type: "Ready", status }] });

describe("what people are told of a spoke", () => {
  test("is its phase and its own sentence", () => {
    const status = { phase: "Network", message: "the network: making vpc" };
    expect(spokeLine(spoke("blue", { status }))).toBe("blue: Network: the network: making vpc");
    expect(spokeLine(spoke("blue"))).toBe("blue: not begun");
  });

  test("is Ready by its condition only", () => {
    expect(isSpokeReady(spoke("blue", { status: { phase: "Ready", ...ready("False") } }))).toBe(false);
    expect(isSpokeReady(spoke("blue", { status: ready("True") }))).toBe(true);
  });

  test("is in another account when its account is not the hub's", () => {
    const inAccount = (id?: string) =>
      otherAccountOf(spoke("blue", id === undefined ? {} : { spec: { account: { id } } }));
    expect(["222222222222", "000000000000", undefined].map(inAccount)).toEqual(["222222222222", undefined, undefined]);
  });

  test("is how many steps of its chain are Ready, and which", () => {
    const step = (kind: string, name: string, status: string) => ({ kind, metadata: { name }, status: ready(status) });
    const steps = [
      step("Kustomization", "blue-sync", "False"),
      step("Kustomization", "blue-flux", "True"),
      step("Kustomization", "blue-base", "True"),
      step("HelmRelease", "blue-flux", "True"),
    ];
    expect(chainLine("blue", steps)).toBe("chain 2 of 3 (base, flux)");
    expect(chainLine("blue", [])).toBe("chain 0 of 0");
  });

  test("is nothing where the hub has no Spoke API yet", async () => {
    const asked: string[] = [];
    const kubectl = async ([verb = ""]: readonly string[]) => {
      asked.push(verb);
      return "";
    };
    expect(await spokesOf(kubectl)).toEqual([]);
    expect(asked).toEqual(["api-resources"]);
  });
});

describe("removing spokes", () => {
  test("takes the protection off those that have it, and leaves every other line as it is", async () => {
    const write = (name: string, text: string) => {
      mkdirSync(join(base, "spokes", name), { recursive: true });
      writeFileSync(join(base, "spokes", name, "spoke.yaml"), text);
    };
    const read = (name: string) => readFileSync(join(base, "spokes", name, "spoke.yaml"), "utf8");
    const open = "# ours\nspec:\n  region: us-east-1\n";
    write("open", open);
    write("guarded", `${open}  # never lose it\n  deletionProtection: true\n`);
    await unprotect(base, ["spokes/open", "spokes/guarded", "spokes/gone"]);
    expect(read("open")).toBe(open);
    expect(read("guarded")).toBe(`${open}  # never lose it\n  deletionProtection: false\n`);
  });

  test("knows which did not come from Git", () => {
    const labels = { "kustomize.toolkit.fluxcd.io/name": "spoke-blue" };
    const fromGit: Spoke = { metadata: { name: "blue", labels }, spec: {} };
    expect(withoutFolder([fromGit, spoke("by-hand")])).toEqual([spoke("by-hand")]);
  });
});

describe("removing all spokes through Git", () => {
  const folder = "spokes/fleet";

  /** kubectl on a hub whose Flux applies at once what is on the branch, and whose Spokes go at once. */
  function hub(bare: string, byHand: Spoke[] = []) {
    const spokes = () =>
      listFolder(bare, folder, "tree").map((name) => ({
        metadata: { name, labels: { "kustomize.toolkit.fluxcd.io/name": `spoke-${name}` } },
        spec: parse(git(bare, ["show", `main:${folder}/${name}/spoke.yaml`])).spec,
      }));
    const deleted: string[] = [];
    const kubectl = async ([verb, ...args]: readonly string[]) => {
      if (verb === "api-resources") return "spokes.fleet.internal\n";
      if (verb === "delete") deleted.push(...byHand.splice(0).map(({ metadata }) => metadata.name));
      return verb === "get" && args[0] === "spokes" ? JSON.stringify({ items: [...spokes(), ...byHand] }) : "";
    };
    return { kubectl, deleted };
  }

  function repository(spokes: Readonly<Record<string, string>>): string {
    const content = mkdtempSync(join(base, "content-"));
    mkdirSync(join(content, folder), { recursive: true });
    writeFileSync(join(content, folder, "README.md"), "spokes\n");
    for (const [name, text] of Object.entries(spokes)) {
      mkdirSync(join(content, folder, name), { recursive: true });
      writeFileSync(join(content, folder, name, "spoke.yaml"), text);
    }
    publish(`${content}.git`, content, "first");
    return `${content}.git`;
  }
  const log = (bare: string) => git(bare, ["log", "--reverse", "--format=%s", "main"]).split("\n").slice(1);

  test("takes the protection off in a commit of its own before it removes the folders, and nothing else", async () => {
    const bare = repository({ blue: "spec: { deletionProtection: true }\n", green: "spec: {}\n" });
    await removeThroughGit(bare, "fleet", hub(bare).kubectl, () => {});
    expect(log(bare)).toEqual(["Take deletion protection off the spokes, to remove them", "Remove blue, green"]);
    expect(git(bare, ["show", `main~1:${folder}/blue/spoke.yaml`])).toContain("deletionProtection: false");
    expect(listFolder(bare, folder, "blob")).toEqual(["README.md"]);
  });

  test("removes no spoke of another fleet", async () => {
    const bare = repository({ green: "spec: {}\n", "../fleet-prod/pink": "spec: {}\n" });
    await removeThroughGit(bare, "fleet", hub(bare).kubectl, () => {});
    expect(log(bare)).toEqual(["Remove green"]);
    expect(listFolder(bare, "spokes", "tree").sort()).toEqual(["fleet", "fleet-prod"]);
  });

  test("deletes a Spoke that did not come from Git", async () => {
    const bare = repository({});
    const { kubectl, deleted } = hub(bare, [spoke("by-hand")]);
    await removeThroughGit(bare, "fleet", kubectl, () => {});
    expect(deleted).toEqual(["by-hand"]);
    expect(log(bare)).toEqual([]);
  });

  test("commits nothing when there is no spoke", async () => {
    const bare = repository({});
    const said: string[] = [];
    await removeThroughGit(bare, "fleet", hub(bare).kubectl, (line) => said.push(line));
    expect(said).toEqual(["the hub has no spokes"]);
  });
});

describe("which command works on an instance", () => {
  test("is known while it runs, for its folder only", async () => {
    expect(await underWay(base)).toBeUndefined();
    await alone(base, "npm start", async () => {
      expect(await underWay(base)).toBe("npm start");
      expect(await underWay(`${base}-other`)).toBeUndefined();
    });
    await alone(base, "npm run down", async () => expect(await underWay(base)).toBe("npm run down"));
    expect(await underWay(base)).toBeUndefined();
  });
});
