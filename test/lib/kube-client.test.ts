import { ApiException } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { everyItem, type PageRequest, reasonOf } from "../../lib/kube-client.ts";

test("a list has what is on all pages, in their order", async () => {
  const asked: PageRequest[] = [];
  const found = await everyItem(async (request) => {
    asked.push(request);
    return request._continue === undefined
      ? { items: ["a", "b"], metadata: { continue: "c" } }
      : { items: ["c"], metadata: { continue: "" } };
  });
  expect(found).toEqual(["a", "b", "c"]);
  expect(asked).toEqual([{ limit: 250 }, { limit: 250, _continue: "c" }]);
});

const answer = (code: number, body: unknown) => new ApiException(code, "Unknown API Status Code!", body, { x: "y" });

test.each<[string, unknown, string]>([
  ["an API server's message", answer(403, '{"message":"spokes is forbidden"}'), "403 spokes is forbidden"],
  ["the text of a proxy", answer(502, "<html>bad gateway"), "502 <html>bad gateway"],
  ["the beginning of a long text", answer(502, "x".repeat(1000)), `502 ${"x".repeat(300)}`],
  ["the code alone where JSON has no message", answer(500, "{}"), "500"],
  ["the code alone where the message is no text", answer(500, '{"message":{"a":1}}'), "500"],
  ["the code alone where the answer is null", answer(500, "null"), "500"],
  ["the code alone where there is no body", answer(401, undefined), "401"],
  [
    "why there was no answer",
    new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 10.0.0.1:443") }),
    "connect ECONNREFUSED 10.0.0.1:443",
  ],
  ["an error whose cause has no words", new Error("aborted", { cause: new Error("") }), "aborted"],
])("a failed request says %s", (_, error, said) => expect(reasonOf(error)).toBe(said));
