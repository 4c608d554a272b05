import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asked } from "../../../cli/spoke/new-cluster-questions.ts";
import { certificate } from "../support/fleet.ts";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";
import { ctrlD, enter, typing } from "../support/terminal.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

const composition = "platform/composition/composition.yaml";
const ask = async (answers: readonly string[], argv: readonly string[] = [], more = {}) => {
  const { terminal, shown, left } = typing(answers, more);
  const full = await asked([...argv, "--repository", at.system], terminal);
  return { full: full.filter((word) => word !== "--repository" && word !== at.system), shown: shown(), left: left() };
};

describe("fleet new-cluster on a terminal", () => {
  test("asks for name, environment and team, with what there is to choose", async () => {
    const { full, shown } = await ask([`green${enter}`, `prod${enter}`, enter]);
    expect(full).toEqual(["green", "--environment=prod", "--tenant=payments"]);
    expect(shown).toContain("Environment, which can't be changed later (dev, prod): ");
    expect(shown).toContain("Team that owns the cluster, a new one or one of (payments) [payments]: ");
    expect(shown).toContain(
      `Without questions: fleet new-cluster green --repository ${at.system} --environment=prod --tenant=payments`,
    );
  });

  test("offers no team where there are several, and takes a new one", async () => {
    at.write("spokes/fleet/red/spoke.yaml", spokeText("red").replace("payments", "ledger"));
    const { full, shown } = await ask([`search${enter}`], ["green", "--environment", "dev"]);
    expect(full).toEqual(["green", "--environment", "dev", "--tenant=search"]);
    expect(shown).toContain("one of (ledger, payments): ");
  });

  test("tells what is wrong with an answer, by the rules of the command, and asks again", async () => {
    const answers = ["Green", "blue", "green", "prd", "prod", "No Team", "payments"];
    const { full, shown, left } = await ask(answers.map((answer) => answer + enter));
    expect(full).toEqual(["green", "--environment=prod", "--tenant=payments"]);
    expect(shown).toMatch(/<name>: can't be the name of a spoke[\s\S]*got: +Green/);
    expect(shown).toMatch(/<name>: already has a folder[\s\S]*spokes\/fleet\/blue/);
    expect(shown).toMatch(
      /--environment: has an unknown value\n +got: +prd\n +allowed: dev, prod\n +do: +did you mean prod/,
    );
    expect(shown).toMatch(/--tenant: the Spoke API does not accept it/);
    expect(left).toEqual([]);
  });

  test("asks for a Kubernetes version where the environment's channel holds the Composition back", async () => {
    at.write(composition, at.read(composition).replace('internal/dev: "true"', 'internal/dev: "false"'));
    const argv = ["green", "--environment", "dev", "--tenant", "payments"];
    const { full, shown } = await ask([`1.30${enter}`, `1.36${enter}`], argv);
    expect(full).toEqual([...argv, "--kubernetes-version=1.36"]);
    expect(shown).toContain("Kubernetes version, one that spokes of dev run (1.35, 1.36, 1.37): ");
  });

  test("asks for the region where no stack says it, with that of the environment for Enter", async () => {
    at.write("key.pem", await certificate());
    const pem = join(at.system, "key.pem");
    const argv = ["green", "--environment", "dev", "--tenant", "payments", "--fleet", "fleet", "--certificate", pem];
    const { full, shown } = await ask([enter], argv, { env: { AWS_REGION: "eu-west-1" } });
    expect(full).toEqual([...argv, "--region=eu-west-1"]);
    expect(shown).toContain("AWS region [eu-west-1]: ");
    expect((await ask([`Frankfurt${enter}`, `eu-central-1${enter}`], argv)).full.at(-1)).toBe("--region=eu-central-1");
  });

  test.each([
    ["a wrong value", ["--cidr", "10.0.0.0"]],
    ["a misspelt option", ["--enviroment", "dev"]],
    ["a wrong environment", ["--environment", "stage"]],
    ["a file that is not there", ["--known-hosts", "/nowhere/known_hosts"]],
  ])("asks nothing while there is %s: the command refuses it, with everything else", async (_, argv) => {
    const { full, shown } = await ask([], argv);
    expect(full).toEqual(argv);
    expect(shown).toBe("");
  });

  test.each([
    ["--no-input", ["--no-input"], {}],
    ["--dry-run", ["--dry-run"], {}],
    ["--help", ["--help"], {}],
    ["CI", [], { env: { CI: "true" } }],
    ["a pipe", [], { input: false }],
  ])("asks nothing with %s", async (_, argv, more) => {
    expect(await ask([], argv, more)).toEqual({ full: argv, shown: "", left: [] });
  });

  test("leaves missing what is not answered at the end of the input", async () => {
    expect((await ask([`green${enter}`, ctrlD])).full).toEqual(["green"]);
  });
});
