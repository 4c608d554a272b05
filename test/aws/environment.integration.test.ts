import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/process.ts";
import { readEnvironment, variables } from "./environment.ts";

const complete = {
  FLEET_AWS_CONFIRM_ACCOUNT: "111111111111",
  AWS_REGION: "eu-central-1",
  FLEET_AWS_STACK: "proof",
  FLEET_AWS_FLEET: "fleet-proof",
  FLEET_AWS_SYSTEM_REPOSITORY: "https://github.com/example/proof-system.git",
  FLEET_AWS_WORKLOADS_REPOSITORY: "https://github.com/example/proof-workloads.git",
  FLEET_AWS_APP_REPOSITORY: "https://github.com/example/proof-app.git",
  FLEET_AWS_APP_URL: "ssh://git@github.com/example/proof-app.git",
  FLEET_AWS_DEPLOY_KEY: "test/aws/github-deploy-key.sh",
};
const read = (change: Record<string, string | undefined> = {}) => readEnvironment({ ...complete, ...change });

describe("the environment of the proof on AWS", () => {
  test("is read with defaults for what may be left out", () => {
    expect(read()).toEqual({
      problems: [],
      environment: {
        account: "111111111111",
        region: "eu-central-1",
        stack: "proof",
        configFile: undefined,
        fleet: "fleet-proof",
        environment: "dev",
        repositories: {
          "gitops-system": complete.FLEET_AWS_SYSTEM_REPOSITORY,
          "gitops-workloads": complete.FLEET_AWS_WORKLOADS_REPOSITORY,
          "payment-app-manifests": complete.FLEET_AWS_APP_REPOSITORY,
        },
        appUrl: complete.FLEET_AWS_APP_URL,
        deployKey: complete.FLEET_AWS_DEPLOY_KEY,
        admin: undefined,
        offline: false,
        cases: [],
        report: undefined,
      },
    });
  });

  test("without anything is refused with every variable that is needed, and what to set", () => {
    const { problems } = readEnvironment({});
    expect(problems.map(({ key }) => key)).toEqual(Object.keys(complete));
    for (const { what, remedy, key } of problems) {
      expect(what).toBe("is not set");
      expect(remedy).toContain(`export ${key}=`);
    }
  });

  test.for<[string, string]>([
    ["FLEET_AWS_CONFIRM_ACCOUNT", "yes"],
    ["FLEET_AWS_CONFIRM_ACCOUNT", " "],
    ["AWS_REGION", "Frankfurt"],
    ["FLEET_AWS_STACK", "proof; rm"],
    ["FLEET_AWS_FLEET", "Fleet"],
    ["FLEET_AWS_ENVIRONMENT", "Dev"],
    ["FLEET_AWS_APP_URL", "https://github.com/example/proof-app.git"],
    ["FLEET_AWS_CASES", "tags,everything"],
    ["FLEET_AWS_ADMIN", "arn:aws:sts::111111111111:assumed-role/proof/session"],
    ["FLEET_AWS_OFFLINE", "yes"],
  ])("with %s=%s is refused, and nothing else in it", ([key, value]) => {
    expect(read({ [key]: value }).problems.map((problem) => problem.key)).toEqual([key]);
  });

  test("is described in docs/guides/aws-proof.md, variable by variable", () => {
    const text = readFileSync(join(root, "docs", "guides", "aws-proof.md"), "utf8");
    const described = [...text.matchAll(/^\| `((?:FLEET_)?AWS_\w+)` \|/gm)].map(([, name]) => name);
    expect(described.sort()).toEqual(Object.keys(variables).sort());
  });
});
