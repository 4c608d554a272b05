import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environmentCommands } from "../../infra/ci/commands.ts";
import { scriptFolder } from "../workflows/support.ts";

/** The script of infra/ci as a shell runs it, with a program in place of gh. */

const { at, program, read, bash } = scriptFolder();
const arn = "arn:aws:iam::111111111111:role/fleet-ci-apply";
const script = environmentCommands([{ purpose: "apply", repository: "acme/fleet", arn }], {
  ...{ stack: "prod", region: "eu-central-1", backend: "s3://state?region=eu-central-1&awssdk=v2" },
  registry: "111111111111.dkr.ecr.eu-central-1.amazonaws.com/mirror",
  reviewers: [{ type: "Team", id: 7 }],
});

/** gh, for an environment that these branches and tags can enter. */
const gh = (refs: string) =>
  program("gh", `case "$*" in *" --input -") cat >> '${join(at.dir, "bodies")}' ;; *--jq*) printf '${refs}' ;; esac`);
/** As from a pipe: no command may read the rest of the script. */
const run = () => bash(`sh < ${join(at.dir, "script")}`, {});

describe("the script that creates environments at GitHub", () => {
  test("sets rules, branch and variables", () => {
    gh("");
    writeFileSync(join(at.dir, "script"), script);
    expect(run()).toEqual({ status: 0, text: "" });
    const path = "repos/acme/fleet/environments/prod";
    expect(read("called").trim().split("\n")).toEqual([
      `api --silent --method PUT ${path} --input -`,
      `api ${path}/deployment-branch-policies --jq .branch_policies[] | .type + " " + .name`,
      `api --silent --method POST ${path}/deployment-branch-policies -f type=branch -f name=main`,
      `variable set AWS_ROLE_ARN --repo acme/fleet --env prod --body ${arn}`,
      "variable set AWS_REGION --repo acme/fleet --env prod --body eu-central-1",
      "variable set PULUMI_BACKEND_URL --repo acme/fleet --env prod --body s3://state?region=eu-central-1&awssdk=v2",
      "variable set ECR_REGISTRY --repo acme/fleet --env prod --body 111111111111.dkr.ecr.eu-central-1.amazonaws.com",
    ]);
    expect(JSON.parse(read("bodies"))).toMatchObject({
      can_admins_bypass: false,
      reviewers: [{ type: "Team", id: 7 }],
    });
  });

  test("adds the branch only once", () => {
    gh("tag main\\nbranch main\\n");
    writeFileSync(join(at.dir, "script"), script);
    expect(run()).toEqual({ status: 0, text: "" });
    expect(read("called")).not.toContain("POST");
  });

  test("adds the branch if only others of the name exist", () => {
    gh("tag main\\nbranch main2\\n");
    writeFileSync(join(at.dir, "script"), script);
    run();
    expect(read("called")).toContain("POST");
  });

  test("ends at the first error", () => {
    program("gh", "exit 1");
    writeFileSync(join(at.dir, "script"), script);
    expect(run().status).not.toBe(0);
    expect(read("called").trim().split("\n")).toHaveLength(1);
  });
});
