import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asked } from "../../../cli/app/onboard-questions.ts";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";
import { enter, typing } from "../support/terminal.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

const url = "ssh://git@git.example.com/shop.git";
const ask = async (answers: readonly string[], argv: readonly string[] = [], checkout = at.workloads, more = {}) => {
  const { terminal, shown, left } = typing(
    answers.map((answer) => answer + enter),
    more,
  );
  const full = await asked([...argv, "--repository", checkout], terminal);
  return { full: full.filter((word) => word !== "--repository" && word !== checkout), shown: shown(), left: left() };
};

describe("fleet onboard on a terminal", () => {
  test("asks for what is missing, and takes environment and team from the Spoke", async () => {
    const { full, shown } = await ask(["shop", "", "", url]);
    expect(full).toEqual(["shop", "--cluster=blue", "--tenant=payments", `--repository-url=${url}`]);
    expect(shown).toContain("Cluster, or several (blue) [blue]: ");
    expect(shown).toContain("Team that owns the application [payments]: ");
    expect(shown).not.toContain("Environment");
  });

  test("takes several clusters in one answer, and offers no team where theirs differ", async () => {
    at.write("spokes/fleet/green/spoke.yaml", spokeText("green").replace("dev", "prod").replace("payments", "ledger"));
    const { full, shown } = await ask(["blue, green", "shop-team"], ["shop", "--repository-url", url]);
    expect(full).toEqual(["shop", "--repository-url", url, "--cluster=blue", "--cluster=green", "--tenant=shop-team"]);
    expect(shown).toContain("Cluster, or several (blue, green): ");
  });

  test("asks for the environment where there is no checkout of gitops-system to say it", async () => {
    const alone = join(at.folder, "elsewhere", "gitops-workloads");
    cpSync(at.workloads, alone, { recursive: true });
    const { full, shown } = await ask(["shop", "blue", "Dev", "dev", "payments", url], [], alone);
    expect(full).toEqual([
      ...["shop", "--cluster=blue", "--environment=dev", "--tenant=payments", `--repository-url=${url}`],
    ]);
    expect(shown).toMatch(/--environment: is not a name\n +got: +Dev/);
  });

  test("asks for a token where the URL needs one, until the file can be read", async () => {
    at.write("token", "t0ps3cret\n");
    const https = "https://git.example.com/shop.git";
    const argv = ["shop", "--cluster", "blue", "--tenant", "payments"];
    const token = join(at.system, "token");
    const { full, shown } = await ask([https, "/nowhere/token", token], argv);
    expect(full).toEqual([...argv, `--repository-url=${https}`, `--token-file=${token}`]);
    expect(shown).toContain("--token-file: names a file that does not exist");
    expect(shown).not.toContain("t0ps3cret");
  });

  test("takes ~/ in the answer for the home folder, and shows no token that is given in place of its file", async () => {
    at.write("token", "t0ps3cret\n");
    const argv = ["shop", "--cluster", "blue", "--tenant", "payments", "--repository-url", "https://host/shop.git"];
    const { full, shown } = await ask(["glpat-123", "~/token"], argv, at.workloads, { env: { HOME: at.system } });
    expect(full).toEqual([...argv, `--token-file=${join(at.system, "token")}`]);
    expect(shown).toMatch(/--token-file: names a file that does not exist\n +got: +\(not shown: it may be the token\)/);
  });

  test("offers the spokes of the fleet that is named, and no other's", async () => {
    at.write("spokes/other/green/spoke.yaml", spokeText("green"));
    const rest = ["shop", "--tenant", "payments", "--repository-url", url];
    const { shown } = await ask([""], [...rest, "--fleet", "other"]);
    expect(shown).toContain("Cluster, or several (green) [green]: ");
    expect((await ask(["blue"], rest)).shown).toContain("Cluster, or several (blue, green): ");
  });

  test("tells what is wrong with an answer, by the rules of the command, and asks again", async () => {
    at.write("clusters/blue/shop/kustomization.yaml", "", at.workloads);
    at.write("spokes/fleet/green/spoke.yaml", spokeText("green"));
    const answers = ["kube-system", "shop", "red", "blue", "green", "", "git@host:shop.git", url];
    const { full, shown, left } = await ask(answers);
    expect(full).toEqual(["shop", "--cluster=green", "--tenant=payments", `--repository-url=${url}`]);
    expect(shown).toMatch(/<app>: can't be the name of an application/);
    expect(shown).toMatch(/--cluster: has an unknown value\n +got: +red\n +allowed: blue, green/);
    expect(shown).toMatch(/<app>: already has a folder on this cluster\n +got: .*clusters\/blue\/shop/);
    expect(shown).toMatch(/--repository-url: is not a URL that Flux clones from/);
    expect(left).toEqual([]);
  });

  test.each([
    ["with --no-input", ["--no-input"], {}],
    ["with --dry-run", ["--dry-run"], {}],
    ["in a pipeline", [], { env: { CI: "1" } }],
    ["while something else is wrong", ["--path", "../x"], {}],
    ["while an option is misspelt", ["--clsuter", "blue"], {}],
  ])("asks nothing %s", async (_, argv, more) => {
    expect(await ask([], argv, at.workloads, more)).toEqual({ full: argv, shown: "", left: [] });
  });
});
