import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { run } from "../../../cli/fleet/record.ts";
import { hubMetadata } from "../../../cli/render/clusters.ts";
import { filesBelow } from "../../../cli/render/files.ts";
import { recordedFacts } from "../../../cli/render/hub-facts.ts";
import { UsageError } from "../../../cli/usage.ts";
import { bridgeData } from "../../../lib/bridge.ts";
import { repos } from "../../repos/support/spoke.ts";

const hub = hubMetadata("fleet", "dev");
const data = bridgeData(hub);

let checkout: string;
let said: string[];
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "fleet-facts-"));
  cpSync(join(repos, "gitops-system", "templates"), join(checkout, "templates"), { recursive: true });
  cpSync(join(checkout, "templates", "fleet", "clusters"), join(checkout, "clusters", "fleet"), { recursive: true });
  said = [];
  vi.spyOn(console, "log").mockImplementation((text) => void said.push(String(text)));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(checkout, { recursive: true });
});

const path = () => join(checkout, "clusters", "fleet", "bridge.yaml");
const facts = (output: unknown, ...flags: string[]) => run(["--repository", checkout, ...flags], async () => output);

describe("fleet facts", () => {
  test("writes what the stack says into the fleet's folder, where it is read as it was, and nothing else", async () => {
    const before = filesBelow(checkout);
    expect(await facts(data)).toBe(0);
    expect(filesBelow(checkout).filter((file) => !before.includes(file))).toEqual([path()]);
    expect(parse(readFileSync(path(), "utf8"))).toEqual(data);
    expect(recordedFacts(checkout, "fleet")).toEqual({ file: "clusters/fleet/bridge.yaml", hub, problems: [] });
    expect(said.join()).toContain("git add clusters/fleet/bridge.yaml && git commit");
  });

  test("changes nothing the second time, in whatever order the stack says the same", async () => {
    await facts(data);
    writeFileSync(path(), readFileSync(path(), "utf8"));
    const first = readFileSync(path(), "utf8");
    expect(await facts(Object.fromEntries(Object.entries(data).reverse()))).toBe(0);
    expect(readFileSync(path(), "utf8")).toBe(first);
    expect(said.at(-1)).toBe("clusters/fleet/bridge.yaml has these facts: nothing to do.");
  });

  test("asks the stack that is named for this one output, and no stack where its output is given as a file", async () => {
    const ask = vi.fn(async () => data);
    await run(["--repository", checkout, "--stack", "prod"], ask);
    expect(ask).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ stack: "prod", output: "bridgeData" }));
    rmSync(path());
    const file = join(checkout, "bridge.json");
    writeFileSync(file, JSON.stringify(data));
    expect(await run(["--repository", checkout, "--bridge", file], ask)).toBe(0);
    expect(ask).toHaveBeenCalledOnce();
    expect(parse(readFileSync(path(), "utf8"))).toEqual(data);
  });

  test("refuses what the contract does not have, every problem at once, without showing a value that may be a secret", async () => {
    const { aws_region: _, ...rest } = data;
    const wrong = {
      ...rest,
      git_token: "hunter2",
      aws_account_id: "hunter3",
      gitops_system_repo_url: "https://ada:hunter4@git.example.com/gitops-system.git",
      fleet: "other",
    };
    const error = await facts(wrong).catch((caught: Error) => caught);
    expect(error).toBeInstanceOf(UsageError);
    const { message } = error as Error;
    expect(message).toContain("5 problems in fleet facts, nothing was changed");
    expect(message).toContain("output bridgeData: git_token: is not in the contract of the bridge");
    expect(message).toContain("output bridgeData: aws_region: is missing");
    expect(message).toContain("output bridgeData: aws_account_id: has another form");
    expect(message).toContain("output bridgeData: gitops_system_repo_url: has a credential in its URL");
    expect(message).toContain("output bridgeData: fleet: has no folder in this checkout");
    expect(message).not.toContain("hunter");
    expect(filesBelow(checkout)).not.toContain(path());
  });

  test("refuses an output that is not a map of strings", async () => {
    for (const output of ["[secret]", null, [data], { fleet: 1 }])
      await expect(facts(output)).rejects.toThrow("is not what pulumi stack output --json bridgeData writes");
  });

  test("could not run without the stack: exit code 2, and how to do without", async () => {
    const fails = async () => Promise.reject(new Error("pulumi is not on PATH"));
    await expect(run(["--repository", checkout], fails)).rejects.toThrow(UsageError);
  });
});
