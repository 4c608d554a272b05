import { expect, test } from "vitest";
import { auditLogTypes, controlPlaneLogTypes, logRetentionTimes } from "../../lib/eks-baseline.ts";
import { spokeSchema } from "../functions/spoke/support/definition.ts";
import { defaultConfig, project } from "../support/program.ts";

test("the hub and every spoke log what the policy pack asks for, unless they say otherwise", () => {
  expect(JSON.parse(defaultConfig()[`${project}:logTypes`] ?? "")).toEqual(auditLogTypes);
  expect(spokeSchema.properties?.["spec"]?.properties?.["logTypes"]).toMatchObject({ default: auditLogTypes });
});

test("a Spoke may choose the logs and the retention times that a hub may choose", () => {
  const fields = spokeSchema.properties?.["spec"]?.properties;
  expect(fields?.["logTypes"]).toMatchObject({ items: { enum: controlPlaneLogTypes } });
  expect(fields?.["logRetentionDays"]).toMatchObject({ enum: logRetentionTimes });
});
