import { afterEach, describe, expect, test } from "vitest";
import { checkHub } from "../../../cli/doctor/hub.ts";
import { kubernetesVersions } from "../../../components/versions.ts";
import { type Answers, fakeAws, Refusal } from "./support/aws.ts";
import { devStack } from "./support/programs.ts";

let close = async () => {};
afterEach(() => close());

async function look(kubernetesVersion: string, answer: Answers[string], nodeReleaseVersion = "", more: object = {}) {
  const aws = await fakeAws({ DescribeCluster: answer });
  close = aws.close;
  const stack = await devStack();
  const settings = { ...stack.settings, kubernetesVersion, nodeReleaseVersion, ...more };
  return checkHub({ ...stack, settings }, aws.config);
}
const running = (version: string) => ({ cluster: { name: "fleet-dev-hub", version } });
const [older = "", newer = ""] = kubernetesVersions;
const beyond = `1.${Number(kubernetesVersions.at(-1)?.split(".")[1]) + 1}`;

describe("fleet doctor, the hub's control plane", () => {
  test("that runs what the stack says is ok", async () => {
    expect(await look(newer, running(newer))).toMatchObject([{ status: "ok", message: newer }]);
  });

  test("of which there is none yet is not mentioned", async () => {
    expect(await look(newer, new Refusal("ResourceNotFoundException"))).toEqual([]);
  });

  test.each([
    ["only private in a VPC that the stack creates", { vpcId: "" }, ["wrong"]],
    ["only private in a VPC that exists", { vpcId: "vpc-0123456789abcdef0" }, []],
    ["public too", { vpcId: "", endpointPublicAccess: true }, []],
  ])("of a hub that doesn't exist yet, an endpoint that is %s", async (_what, change, statuses) => {
    const answer = new Refusal("ResourceNotFoundException");
    const found = await look(newer, answer, "", {
      endpointPublicAccess: false,
      endpointPrivateAccess: true,
      ...change,
    });
    expect(found.map(({ status }) => status)).toEqual(statuses);
  });

  test("that EKS has raised by itself is told with what lets add-ons and nodes follow", async () => {
    const [finding] = await look(older, running(newer));
    expect(finding).toMatchObject({
      status: "wrong",
      message: expect.stringMatching(/standard support .* ends; add-ons and nodes keep their versions/),
    });
    expect(finding?.todo.split("\n").map((line) => line.split("   #")[0])).toEqual([
      `pulumi config set kubernetesVersion ${newer}`,
      "pulumi refresh",
      "pulumi up",
    ]);
  });

  test("that EKS has raised is told with the pin of the nodes' release, which would be refused", async () => {
    const [finding] = await look(older, running(newer), `${older}.2-20261101`);
    expect(finding?.todo).toContain("pulumi config rm nodeReleaseVersion");
  });

  test("that EKS has raised to a version unknown here is not a version to set", async () => {
    const [finding] = await look(older, running(beyond));
    expect(finding).toMatchObject({
      status: "wrong",
      todo: expect.stringContaining(`take a release of this project that supports ${beyond}`),
    });
    expect(finding?.todo).not.toContain("pulumi config set");
  });

  test("that the next pulumi up raises by one minor is worth knowing, and more than one minor is wrong", async () => {
    expect(await look(newer, running(older))).toMatchObject([{ status: "note", todo: "pulumi up raises it" }]);
    await close();
    expect(await look(kubernetesVersions.at(-1) ?? "", running(older))).toMatchObject([
      { status: "wrong", todo: expect.stringContaining(`kubernetesVersion ${newer} and pulumi up`) },
    ]);
  });

  test("that is behind all versions of this release needs a release that supports the next one", async () => {
    const minor = Number(older.split(".")[1]);
    const [finding] = await look(older, running(`1.${minor - 2}`));
    expect(finding).toMatchObject({
      status: "wrong",
      todo: expect.stringMatching(
        new RegExp(
          `^take a release of this project that supports 1\\.${minor - 1} \\(this one: .*\\); there pulumi config set`,
        ),
      ),
    });
  });

  test("that may not be seen is unknown, with the right that is missing", async () => {
    expect(await look(newer, new Refusal("AccessDeniedException"))).toMatchObject([
      { status: "unchecked", todo: "allow this identity eks:DescribeCluster" },
    ]);
  });
});
