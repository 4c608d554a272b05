/** Every AWS handler against the instance's AWS API, with IAM enforced. EKS handlers are proved by the program itself and by aws-engine.test.ts, those of Managed Prometheus and Grafana by gateway-aps.test.ts and gateway-grafana.test.ts, groups of endpoints by gateway-endpoints.test.ts. */
import { describe, expect, test } from "vitest";
import { handlers } from "../../aws/index.ts";
import { cases } from "../support/aws-handler-cases.ts";
import { HandlerRunner } from "../support/handler-runner.ts";
import { account } from "../support/own-cloud.ts";
import { proveCase } from "../support/prove-case.ts";

const runner = new HandlerRunner(account, { fleet: "handler-test" });

test("there is a case for every handler but those that are proved elsewhere", () => {
  const missing = [...handlers.keys()].filter(
    (token) =>
      !/^aws:(amp|eks|grafana|ec2\/securityGroupAssociation)[/:]/.test(token) && !cases.some((c) => c.token === token),
  );
  expect(missing).toEqual([]);
});

describe.each(cases)("$token", (one) => {
  test("is created, read without drift, changed, deleted, and then gone", () => proveCase(runner, one));
});
