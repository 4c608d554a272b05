import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clusterProblems } from "../../../cli/app/clusters.ts";
import { lineOf } from "../../../cli/app/onboard-line.ts";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

const line = (...argv: string[]) =>
  lineOf([
    ...["shop", "--tenant", "payments", "--repository-url", "ssh://git@host/shop.git"],
    ...["--repository", at.workloads, ...argv],
  ]);
const told = (...argv: string[]) => line(...argv).told.map(({ key, what, remedy }) => `${key}: ${what}. ${remedy}`);
const environments = (...argv: string[]) => line(...argv).requests.map(({ environment }) => environment);

describe("the environment of the clusters that an application goes to", () => {
  test("is what each Spoke says, and an empty one is not taken for it", () => {
    at.write("spokes/fleet/green/spoke.yaml", spokeText("green").replace("dev", "prod"));
    const both = ["--cluster", "blue", "--cluster", "green"];
    expect([environments(...both), told(...both)]).toEqual([["dev", "prod"], []]);
    expect(environments(...both, "--environment=")).toEqual(["dev", "prod"]);
  });

  test("is to be left out where clusters of several get one", () => {
    at.write("spokes/fleet/green/spoke.yaml", spokeText("green").replace("dev", "prod"));
    const { requests } = line("--cluster", "blue", "--cluster", "green", "--environment", "dev");
    const problems = requests.flatMap((request) => clusterProblems(request, "fleet", at.system));
    expect(problems.map(({ remedy }) => remedy)).toEqual([
      "leave --environment out, so that each Spoke says its own, or give another --cluster",
    ]);
  });

  test("is that of the named fleet's Spoke where several fleets have one, and must be said without --fleet", () => {
    at.write("spokes/other/blue/spoke.yaml", spokeText("blue").replace("dev", "prod"));
    expect(told("--cluster", "blue")).toEqual([
      "--environment: is missing, and several fleets have a spoke blue. give --fleet, or --environment",
    ]);
    expect(told("--cluster", "blue", "--environment", "dev")).toEqual([]);
    for (const [fleet, environment] of [
      ["fleet", "dev"],
      ["other", "prod"],
    ] as const) {
      expect(told("--cluster", "blue", "--fleet", fleet)).toEqual([]);
      expect(environments("--cluster", "blue", "--fleet", fleet)).toEqual([environment]);
    }
  });

  test("is missing where the fleet that is named has no such spoke, whose spokes are offered", () => {
    at.write("spokes/other/green/spoke.yaml", spokeText("green"));
    expect(line("--cluster", "blue", "--fleet", "other").told).toMatchObject([
      { key: "--cluster", got: "blue", allowed: "green", remedy: expect.stringContaining("or --fleet other") },
    ]);
  });

  test.each([
    ["is no YAML", "spec: [\n"],
    ["says none", spokeText("blue").replace("  environment: dev\n", "")],
  ])("is missing where a Spoke %s, whose file is named", (_, text) => {
    at.write("spokes/fleet/blue/spoke.yaml", text);
    expect(line("--cluster", "blue").told).toMatchObject([
      {
        key: "--environment",
        what: "is missing, and the Spoke of blue can't be read or says none",
        got: expect.stringContaining("spokes/fleet/blue/spoke.yaml"),
      },
    ]);
  });
});
