import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { markdownTable } from "../../lib/markdown.ts";
import { policies, subjects } from "../../policies/all.ts";

const ajv = new Ajv({ strict: true, strictTypes: false });

/** The schema of a policy's parameters, as the engine checks a configuration. */
const schemaOf = (policy: (typeof policies)[number]) => ({
  type: "object",
  properties: policy.configSchema?.properties ?? {},
  additionalProperties: false,
});

test("every policy says what it is about and what to do, and can be configured by a name of its own", () => {
  for (const { name, description, remediationSteps } of policies) {
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)+$/);
    expect(description, name).toMatch(/^[A-Z].*\.$/);
    expect(remediationSteps, name).toMatch(/^[A-Z].*\.$/);
  }
  expect(new Set(policies.map(({ name }) => name)).size).toBe(policies.length);
});

test("no policy fixes its enforcement level: the pack makes all mandatory, a configuration may say otherwise", () => {
  expect(policies.filter((policy) => "enforcementLevel" in policy)).toEqual([]);
});

describe("parameters", () => {
  const parameters = policies.flatMap((policy) =>
    Object.entries(policy.configSchema?.properties ?? {}).map(([name, schema]) => ({ policy, name, schema })),
  );

  test("each has a description, and a default that its schema admits", () => {
    for (const { policy, name, schema } of parameters) {
      expect(schema.description, `${policy.name}.${name}`).toMatch(/^[A-Z].*\.$/);
      const validate = ajv.compile(schemaOf(policy));
      expect(validate({ [name]: schema.default }), `${policy.name}.${name}`).toBe(true);
    }
  });

  test.each([
    ["eks-public-endpoint-cidrs", { minimumPrefixLength: 0 }],
    ["iam-no-wildcard-actions", { exceptions: [{ policy: "shop", statement: "Orders", actions: ["s3:*"] }] }],
    ["iam-no-wildcard-actions", { exceptions: [{ policy: "shop", statement: "", reason: "because it is needed" }] }],
    ["stack-secret-readers", { readers: [{ secret: "*", role: "*", reason: "no" }] }],
    ["kms-deletion-window", { minimumDays: 1 }],
  ])("%s refuses %j: too wide, or an exception without a reason", (id, config) => {
    const policy = policies.find(({ name }) => name === id);
    expect(policy && ajv.compile(schemaOf(policy))(config)).toBe(false);
  });
});

test("policies/README.md lists the policies as they are", () => {
  const readme = readFileSync(new URL("../../policies/README.md", import.meta.url), "utf8");
  const row = ({ name, description, configSchema }: (typeof policies)[number]) => {
    const parameters = Object.keys(configSchema?.properties ?? {}).map((parameter) => `\`${parameter}\``);
    return [`\`${name}\``, description, parameters.join(", ")];
  };
  const tables = Object.entries(subjects).map(([subject, own]) =>
    [`### ${subject}`, "", ...markdownTable(["Policy", "What holds", "Parameters"], own.map(row))].join("\n"),
  );
  for (const table of tables) expect(readme).toContain(table);
});
