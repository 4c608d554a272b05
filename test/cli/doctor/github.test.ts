import { describe, expect, test } from "vitest";
import { githubOf } from "../../../cli/doctor/github.ts";
import { programs } from "./support/programs.ts";

/** What a request of the doctor carries, and what it makes of an answer. */
async function asked(env: NodeJS.ProcessEnv, host = "github.com", answer = () => new Response("{}")) {
  const requests: [url: string, authorization: string | null][] = [];
  const ask = await githubOf({
    env,
    run: programs({ "gh auth token --hostname acme.ghe.com": "of-gh\n" }),
    connect: () => async (url, init) => {
      requests.push([url, new Headers(init.headers).get("authorization")]);
      return answer();
    },
  })(host);
  return { answer: await ask?.("orgs/acme"), requests };
}

describe("GitHub's API", () => {
  test("is asked with the token of the environment, in gh's order, or else with gh's", async () => {
    const url = "https://api.github.com/orgs/acme";
    expect((await asked({ GH_TOKEN: "a", GITHUB_TOKEN: "b" })).requests).toEqual([[url, "Bearer a"]]);
    expect((await asked({ GH_TOKEN: "", GITHUB_TOKEN: "b" })).requests).toEqual([[url, "Bearer b"]]);
    expect((await asked({}, "acme.ghe.com")).requests).toEqual([
      ["https://api.acme.ghe.com/orgs/acme", "Bearer of-gh"],
    ]);
  });

  test("is not asked without a token", async () => {
    expect(await asked({})).toEqual({ answer: undefined, requests: [] });
  });

  test("that doesn't answer, or with something else than JSON, leaves a reason", async () => {
    const silent = () => {
      throw new Error("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    };
    expect((await asked({ GH_TOKEN: "a" }, "github.com", silent)).answer).toEqual({
      status: 0,
      body: {},
      message: "connect ECONNREFUSED",
    });
    const proxy = () => new Response("<html>", { status: 502 });
    expect((await asked({ GH_TOKEN: "a" }, "github.com", proxy)).answer).toEqual({
      status: 502,
      body: {},
      message: "",
    });
  });
});
