import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { examine, run } from "../../../cli/doctor/command.ts";
import { connectIn } from "../../../cli/doctor/surroundings.ts";
import { root } from "../support/fleet.ts";
import { rejectsLines } from "../support/wrong-lines.ts";
import { type Answers, fakeAws, identity, Refusal } from "./support/aws.ts";
import { noPrograms } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

async function examined(stack: string | undefined, answers: Answers = {}) {
  const aws = await fakeAws(answers);
  close = aws.close;
  const question = { stack, configFile: undefined, spokes: 1 };
  const connect = connectIn(undefined, fetch);
  const groups = await examine(question, { root, env: {}, run: noPrograms, aws: aws.config, connect, offline: true });
  return { groups: Object.fromEntries(groups.map(({ name, findings }) => [name, findings])), asked: aws.asked };
}

describe("fleet doctor", () => {
  test("looks at everything of a stack, in an order in which one fixes it", async () => {
    const { groups } = await examined("dev", {
      GetCallerIdentity: identity("arn:aws:iam::111111111111:user/me", "111111111111"),
    });
    expect(Object.keys(groups)).toEqual([
      ...["tools", "configuration", "AWS login", "backend", "quotas", "hub", "network", "roles"],
      ...["access to the hub", "secrets", "volumes", "logs", "Git hosts", "workflows", "packages"],
    ]);
  });

  test("says nothing of a hub that is not there yet", async () => {
    const { groups } = await examined("dev", {
      GetCallerIdentity: identity("arn:aws:iam::111111111111:user/me", "111111111111"),
      DescribeCluster: new Refusal("ResourceNotFoundException"),
    });
    expect(groups).not.toHaveProperty("hub");
  });

  test("asks AWS for nothing more where the login does not work, and says that it did not", async () => {
    const { groups, asked } = await examined("dev", { GetCallerIdentity: new Refusal("InvalidClientTokenId") });
    expect(asked.map(({ operation }) => operation)).toEqual(["GetCallerIdentity"]);
    expect(groups["quotas"]).toMatchObject([{ status: "unchecked" }]);
  });

  test("without a stack still looks at the tools", async () => {
    const { groups, asked } = await examined(undefined);
    expect(Object.keys(groups)).toEqual(["tools", "configuration"]);
    expect(asked).toEqual([]);
  });

  test("names the command that looks at the local stack, which only the shell of its instance can be asked about", async () => {
    const dir = mkdtempSync(join(tmpdir(), "fleet-doctor-local-"));
    vi.stubEnv("FLEET_LOCAL_DIR", dir).stubEnv("FLEET_SURROUNDINGS", "");
    await expect(run(["--stack", "local"])).rejects.toThrow(
      `npm start && . ${join(dir, "env")} && fleet doctor --stack local`,
    );
    writeFileSync(join(dir, "env"), "");
    await expect(run(["--stack", "local"])).rejects.toThrow(
      `in its shell: . ${join(dir, "env")} && fleet doctor --stack local`,
    );
    vi.unstubAllEnvs();
    rmSync(dir, { recursive: true });
  });
});

rejectsLines("fleet doctor", {
  "--spokes many":
    "--spokes: is not a number of spokes | many | a whole number from 0 to 9999 | change it, or leave it out for 1",
  "--spokes -1":
    "--spokes: is not a number of spokes | -1 | a whole number from 0 to 9999 | change it, or leave it out for 1",
});
