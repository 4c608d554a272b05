import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { newFleet } from "../../../cli/fleet/folders.ts";
import { newRing, type RingRequest } from "../../../cli/fleet/new-ring.ts";
import { UsageError } from "../../../cli/usage.ts";
import { ringBranch, ringLabel, ringSource, ringSync } from "../../../lib/rings.ts";
import { root } from "../support/fleet.ts";

let checkout: string;
beforeEach(async () => {
  checkout = mkdtempSync(join(tmpdir(), "fleet-new-ring-"));
  cpSync(join(root, "repos", "gitops-system", "templates"), join(checkout, "templates"), { recursive: true });
  await newFleet(checkout, "fleet");
});
afterEach(() => rmSync(checkout, { recursive: true }));

const write = (file: string, text: string) => {
  mkdirSync(dirname(join(checkout, file)), { recursive: true });
  writeFileSync(join(checkout, file), text);
};
const read = (file: string) => readFileSync(join(checkout, file), "utf8");

const make = (name: string, more: Partial<RingRequest> = {}) =>
  newRing(checkout, { name, soak: undefined, maxUnavailable: undefined, after: undefined, fleet: undefined, ...more });

const refusal = async (name: string, more: Partial<RingRequest> = {}): Promise<string> => {
  const error = await make(name, more).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  return (error as UsageError).message;
};

const rings = () => parse(read("clusters/fleet/rings.yaml")).rings;

describe("fleet new-ring", () => {
  test("makes what the hub needs of the ring, and the file of rings", async () => {
    expect(await make("canary")).toEqual([
      "clusters/fleet/rings/canary.yaml",
      "clusters/fleet/kustomization.yaml",
      "clusters/fleet/rings.yaml",
    ]);
    const objects = parseAllDocuments(read("clusters/fleet/rings/canary.yaml")).map((document) => document.toJS());
    expect(objects).toMatchObject([
      {
        kind: "GitRepository",
        metadata: { name: ringSource("canary") },
        spec: { ref: { branch: ringBranch("canary") } },
      },
      { kind: "Kustomization", metadata: { name: ringSync("canary") } },
    ]);
    for (const { metadata } of objects)
      expect(metadata).toMatchObject({ namespace: "flux-system", labels: { [ringLabel]: "canary" } });
    expect(parse(read("clusters/fleet/kustomization.yaml")).resources).toEqual([
      "../../platform/hub",
      "rings/canary.yaml",
    ]);
    expect(read("clusters/fleet/kustomization.yaml")).toMatch(/^# What Flux on the hub of the fleet fleet applies/);
    expect(read("clusters/fleet/rings.yaml")).toMatch(
      /^# The rings of this fleet's spokes.*\n.*\nrings:\n {2}- name: canary\n$/,
    );
  });

  test("puts a ring behind the others or behind the one that is named, and leaves comments", async () => {
    write(
      "clusters/fleet/rings.yaml",
      "rings:\n  # Ours.\n  - name: canary # small\n    soak: 1h\n  - name: rest\n    hold: true # until Monday\n",
    );
    await make("last", { soak: "30m", maxUnavailable: "2" });
    await make("early", { after: "canary", maxUnavailable: "10%" });
    expect(rings()).toEqual([
      { name: "canary", soak: "1h" },
      { name: "early", maxUnavailable: "10%" },
      { name: "rest", hold: true },
      { name: "last", soak: "30m", maxUnavailable: 2 },
    ]);
    for (const comment of ["# Ours.", "# small", "# until Monday"])
      expect(read("clusters/fleet/rings.yaml")).toContain(comment);
  });

  test("refuses wrong flags all at once, by their names, and writes nothing", async () => {
    const message = await refusal("Canary", { soak: "1d", maxUnavailable: "many", after: "none" });
    expect(message).toMatch(/^4 problems in fleet new-ring/);
    for (const key of ["<name>: has another form", "--soak: ", "--max-unavailable: ", "--after: is not a ring"])
      expect(message).toContain(key);
    expect(existsSync(join(checkout, "clusters/fleet/rings.yaml"))).toBe(false);
  });

  test("refuses a name that a ring of any fleet has, because the branch is called by it", async () => {
    write("clusters/other/rings.yaml", "rings: [{ name: rest }]");
    await make("canary", { fleet: "fleet" });
    expect(await refusal("canary", { fleet: "fleet" })).toContain("is a ring of the fleet fleet already");
    expect(await refusal("rest", { fleet: "fleet" })).toContain("is a ring of the fleet other already");
  });

  test("asks for the fleet where there are several, and refuses one that is not there", async () => {
    expect(await refusal("canary", { fleet: "none" })).toContain("no folder clusters/none");
    await newFleet(checkout, "other");
    expect(await refusal("canary")).toMatch(/--fleet: is needed[\s\S]*fleet, other/);
  });

  test("refuses to add to a file that is wrong", async () => {
    write("clusters/fleet/rings.yaml", "rings: [{ name: canary, soak: 1d }]");
    expect(await refusal("rest")).toContain("clusters/fleet/rings.yaml: rings[0].soak");
  });

  test("refuses a folder that is not a checkout", async () => {
    rmSync(join(checkout, "templates"), { recursive: true });
    expect(await refusal("canary")).toContain("is not a checkout of gitops-system");
  });
});
