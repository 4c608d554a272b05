import { describe, expect, it } from "vitest";
import { MetricsWorkspace, type MetricsWorkspaceArgs } from "../../components/metrics-workspace.ts";
import { recorded } from "../support/program.ts";

const made = (args?: MetricsWorkspaceArgs) => recorded("test", async () => new MetricsWorkspace("shop", args));
const inputsOf = async (type: string, args?: MetricsWorkspaceArgs) =>
  (await made(args)).resources.filter((resource) => resource.type.endsWith(`:${type}`)).map(({ inputs }) => inputs);

describe("MetricsWorkspace", () => {
  it("makes a workspace alone, called after the component", async () => {
    const { resources } = await made();
    expect(resources.filter(({ custom }) => custom).map(({ type, inputs }) => [type, inputs])).toEqual([
      ["aws:amp/workspace:Workspace", { alias: "shop" }],
    ]);
  });

  it("gives it each rules file under its name", async () => {
    const data = "groups: []";
    expect(await inputsOf("RuleGroupNamespace", { rules: { fleet: data, shop: data } })).toMatchObject([
      { name: "fleet", data },
      { name: "shop", data },
    ]);
  });

  it("sends every alert to the topic, signed for the topic's region", async () => {
    const alertTopicArn = "arn:aws:sns:eu-west-1:111122223333:alerts";
    const [manager] = await inputsOf("AlertManagerDefinition", { alertTopicArn });
    const { alertmanager_config: text } = JSON.parse(manager?.["definition"]);
    const { route, receivers } = JSON.parse(text);
    expect(receivers.map(({ name }: { name: string }) => name)).toEqual([route.receiver]);
    expect(receivers[0].sns_configs).toEqual([
      { topic_arn: alertTopicArn, sigv4: { region: "eu-west-1" }, send_resolved: true },
    ]);
  });
});
