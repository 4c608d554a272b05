import type { Rule } from "@aws-sdk/client-elastic-load-balancing-v2";
import { describe, expect, test } from "vitest";
import { type Asked, actionsFor, groupFor, redirectTo } from "../../../../gateway/elb/rules.ts";

const asked = (host: string, path: string, method = "GET", headers: Readonly<Record<string, string>> = {}): Asked => ({
  ...{ host, path, method, query: new URLSearchParams("a=b") },
  header: (name) => headers[name],
});
const rule = (TargetGroupArn: string, ...Conditions: NonNullable<Rule["Conditions"]>): Rule => ({
  Conditions,
  Actions: [{ Type: "forward", TargetGroupArn }],
});
const rules = [
  rule("shop", { Field: "host-header", Values: ["shop.example.com"] }, { Field: "path-pattern", Values: ["/cart/*"] }),
  rule("wild", { Field: "host-header", HostHeaderConfig: { Values: ["*.example.com"] } }),
  rule("post", { Field: "http-request-method", HttpRequestMethodConfig: { Values: ["POST"] } }),
  rule("beta", { Field: "http-header", HttpHeaderConfig: { HttpHeaderName: "X-Stage", Values: ["bet?"] } }),
  rule("unknown", { Field: "source-ip", SourceIpConfig: { Values: ["0.0.0.0/0"] } }),
  rule("default"),
];

describe("the rules of a listener", () => {
  test.for([
    ["shop", asked("shop.example.com", "/cart/1")],
    ["shop", asked("SHOP.example.com", "/cart/1")],
    ["wild", asked("shop.example.com", "/CART/1")],
    ["wild", asked("a.b.example.com", "/")],
    ["default", asked("example.com", "/")],
    ["default", asked("shopxexample.com", "/cart/1")],
    ["post", asked("x.org", "/", "POST")],
    ["beta", asked("x.org", "/", "GET", { "x-stage": "BETA" })],
    ["default", asked("x.org", "/", "GET", { "x-stage": "beta2" })],
  ] as const)("have %s answer", ([group, request]) => {
    expect(actionsFor(rules, request)).toEqual([{ Type: "forward", TargetGroupArn: group }]);
  });
});

describe("a forward action", () => {
  const weighted = (...weights: number[]) => ({
    Type: "forward" as const,
    ForwardConfig: { TargetGroups: weights.map((Weight, at) => ({ TargetGroupArn: `group-${at}`, Weight })) },
  });
  test.for([
    [0, "group-0"],
    [0.24, "group-0"],
    [0.25, "group-2"],
    [0.99, "group-2"],
  ] as const)("goes by weight: at %d to %s", ([random, group]) => {
    expect(groupFor(weighted(1, 0, 3), random)).toBe(group);
  });
  test("goes to no group where all weights are 0", () => expect(groupFor(weighted(0), 0.5)).toBeUndefined());
});

describe("a redirect", () => {
  test("keeps what it does not change", () => {
    const action = {
      Type: "redirect" as const,
      RedirectConfig: { Protocol: "HTTPS", Port: "443", StatusCode: undefined },
    };
    expect(redirectTo(action, asked("shop.example.com", "/cart"), 80)).toBe("https://shop.example.com:443/cart?a=b");
  });
});
