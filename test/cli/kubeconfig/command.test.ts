import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/kubeconfig/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { cluster, fleetOf, spoke } from "../list/support.ts";
import { rejectsLines } from "../support/wrong-lines.ts";

const folder = temporaryFolder("fleet-kubeconfig");
const making = spoke("lime", { status: { phase: "ControlPlane", message: "control plane: making cluster" } });
const hub = [spoke("blue"), cluster("blue"), spoke("teal"), cluster("teal"), making];
const its = (profile?: string) => ({ connect: async () => ({ ...fleetOf(hub), profile }) });

let written: string;
beforeEach(() => {
  written = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
  vi.spyOn(console, "log").mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

describe("fleet kubeconfig", () => {
  test("prints a context for the spoke whose tokens the AWS CLI makes, and no credential", async () => {
    expect(await run(["blue"], its())).toBe(0);
    const config = JSON.parse(written);
    expect(config["current-context"]).toBe("fleet-spoke-blue");
    expect(config.clusters).toEqual([
      { name: "fleet-spoke-blue", cluster: { server: "https://blue.eks", "certificate-authority-data": "Q0E=" } },
    ]);
    expect(Object.keys(config.users[0].user)).toEqual(["exec"]);
    expect(config.users[0].user.exec).toMatchObject({
      command: "aws",
      args: ["--region", "eu-central-1", "eks", "get-token", "--cluster-name", "fleet-spoke-blue", "--output", "json"],
    });
  });

  test("takes the profile by which the hub is reached", async () => {
    await run(["blue"], its("on-call"));
    expect(JSON.parse(written).users[0].user.exec.args.slice(-2)).toEqual(["--profile", "on-call"]);
  });

  test("writes a file that only its owner can read, and touches none that exists", async () => {
    const file = join(folder, "blue");
    expect(await run(["blue", "--output", file], its())).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, "utf8");
    expect(written).toBe("");
    await expect(run(["teal", "--output", file], its())).rejects.toThrow(UsageError);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("refuses a spoke that is not there, with those that are", async () => {
    await expect(run(["bleu"], its())).rejects.toThrow(
      "the hub has no spoke bleu; did you mean blue?\nIt has blue, lime, teal.",
    );
  });

  test("refuses a spoke without an API server, with what its Spoke says", async () => {
    const error = await run(["lime"], its()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toBe(
      "spoke lime can't be reached: its API server is not there yet. The Spoke says: control plane: making cluster",
    );
  });
});

rejectsLines("fleet kubeconfig", {
  "blue --output {file}":
    "--output: names a file that exists already | {file} | a new file | name another one, or remove it first",
});
