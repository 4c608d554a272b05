import { afterEach, describe, expect, test } from "vitest";
import { checkSecrets, secretNames } from "../../../cli/doctor/secrets.ts";
import type { Readable } from "../../../infra/settings.ts";
import { runStack } from "../../support/program.ts";
import { type Answers, fakeAws, Refusal } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

async function look(answers: Answers) {
  const aws = await fakeAws(answers);
  close = aws.close;
  return { found: await checkSecrets(await devStack(), aws.config), asked: aws.asked };
}

const deletedOn = Date.UTC(2026, 11, 24) / 1000;

describe("fleet doctor, secrets", () => {
  test("lists names of the stack that are scheduled for deletion, with how to restore or delete each", async () => {
    const SecretList = [
      { Name: "fleet-dev/git/gitops-system", DeletedDate: deletedOn },
      { Name: "fleet-dev/git/gitops-workloads" },
      { Name: "fleet-dev/sealing-keys/dev/0", DeletedDate: deletedOn },
      { Name: "fleet-dev/sealing-keys/dev/1", DeletedDate: deletedOn },
    ];
    const { found, asked } = await look({ ListSecrets: { SecretList } });
    expect(asked.map(({ input }) => input)).toMatchObject([{ IncludePlannedDeletion: true }]);
    expect(found).toMatchObject([
      { status: "wrong", name: "fleet-dev/git/gitops-system", message: expect.stringContaining("on 2026-12-24") },
      { status: "wrong", name: "fleet-dev/sealing-keys/dev/1", todo: expect.stringContaining("formerSealingKeys") },
    ]);
    expect(found[1]?.todo).not.toContain("fleet adopt-hub");
    expect(found[0]?.todo).toContain(
      "aws secretsmanager restore-secret --region eu-central-1 --secret-id fleet-dev/git/gitops-system",
    );
    expect(found[0]?.todo).toContain("fleet adopt-hub --stack dev");
    expect(found[0]?.todo).toContain("--force-delete-without-recovery");
  });

  test("is ok where no name is taken", async () => {
    expect((await look({ ListSecrets: { SecretList: [] } })).found).toMatchObject([{ status: "ok" }]);
  });

  test("is unknown without the permission", async () => {
    const { found } = await look({ ListSecrets: new Refusal("AccessDeniedException") });
    expect(found).toMatchObject([{ status: "unchecked", todo: "allow this identity secretsmanager:ListSecrets" }]);
  });
});

const withMore = {
  "eks-gitops-fleet:gitReceiver": "github",
  "eks-gitops-fleet:notifications": '[{"name":"chat","type":"slack"}]',
  "eks-gitops-fleet:notificationSecrets": '{"chat":{"address":"https://hooks.slack.com/services/T0/B0/x1"}}',
};

test.for([
  ["of the stack dev", {}, {}],
  ["with a Receiver and a notification", withMore, { gitReceiver: "github", notifications: [{ name: "chat" }] }],
] as const)("the names are those of the secrets that the program creates %s", async ([, config, own]) => {
  const { resources } = await runStack("dev", config, ["eks-gitops-fleet:notificationSecrets"]);
  const made = resources
    .filter(({ type }) => type === "aws:secretsmanager/secret:Secret")
    .map(({ inputs }) => inputs["name"]);
  const { settings } = await devStack();
  expect(secretNames({ ...settings, ...own } as Readable).sort()).toEqual(made.sort());
});
