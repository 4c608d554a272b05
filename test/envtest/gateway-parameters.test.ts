import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REGION } from "@eks-gitops-fleet/local/gateway";
import { allow, type Clients, type GatewayCloud, startGatewayCloud } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type Run, runner } from "../../cli/doctor/process.ts";
import { run } from "../../cli/node-releases/command.ts";
import { nodeReleasesPolicy } from "../../lib/iam/node-releases.ts";

let cloud: GatewayCloud;
let aws: string;
const dir = mkdtempSync(join(tmpdir(), "fleet-parameters-"));
beforeAll(async () => {
  aws = (await ensureToolchain()).bin("aws");
  cloud = await startGatewayCloud();
  const composition = join("platform", "composition");
  const system = join(import.meta.dirname, "..", "..", "repos", "gitops-system");
  cpSync(join(system, composition), join(dir, composition), { recursive: true });
});
afterAll(async () => {
  rmSync(dir, { recursive: true });
  await cloud.remove();
});

/** The aws CLI with the credentials of a role, as a person has it. */
function awsAs({ credentials }: Clients): Run {
  const programs = runner(dir, {
    ...{
      PATH: process.env["PATH"],
      HOME: dir,
      AWS_ENDPOINT_URL: cloud.instance.awsEndpoint,
      AWS_DEFAULT_REGION: REGION,
    },
    AWS_ACCESS_KEY_ID: credentials?.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey,
    AWS_SESSION_TOKEN: credentials?.sessionToken,
  });
  return (_program, args) => programs(aws, args);
}
const releases = (as: Clients) => run(["--repository", dir], dir, awsAs(as));
const table = () =>
  parse(readFileSync(join(dir, "platform", "composition", "composition.yaml"), "utf8")).spec.pipeline[0].input
    .kubernetesVersions;

test("fleet node-releases needs the right on the public parameters, by AWS's own ARN", async () => {
  const statement = allow({
    Action: "ssm:GetParameters",
    Resource: `arn:aws:ssm:${REGION}:000000000000:parameter/aws/service/*`,
  });
  await expect(releases(await cloud.roleWith("narrow", statement))).rejects.toThrow("AccessDenied");
  expect(table()["1.36"]).not.toHaveProperty("nodes");
});

test("fleet node-releases writes what EKS recommends, with no more rights than it documents", async () => {
  expect(await releases(await cloud.roleWith("reader", nodeReleasesPolicy("aws")))).toBe(0);
  expect(table()["1.36"]).toMatchObject({
    nodes: { AL2023_x86_64_STANDARD: "1.36.4-20261101", AL2023_ARM_64_STANDARD: "1.36.4-20261101" },
  });
});
