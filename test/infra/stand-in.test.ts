/** The local stack makes what the program asks for: inputs that the stand-in for aws refuses are found here, not at its first start. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { handlers } from "@eks-gitops-fleet/local/aws";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { withDifference } from "../support/golden.ts";

const golden = (file: string) => parse(readFileSync(join(import.meta.dirname, "golden", file), "utf8"));
const dev = golden("dev.yaml");
type Resource = { readonly inputs?: Readonly<Record<string, unknown>> };

test.each([
  ["dev", dev],
  ["prod", withDifference(dev, golden("prod.diff.yaml"))],
])("the stand-in takes every input of the AWS resources of %s", (_stack, resources) => {
  expect(Object.keys(resources).length).toBeGreaterThan(100);
  const refused = Object.entries<Resource>(resources).flatMap(([name, { inputs = {} }]) => {
    const token = name.split("::")[0] as string;
    if (!token.startsWith("aws:")) return [];
    const handler = handlers.get(token);
    if (!handler) return [`${name}: there is no handler`];
    const taken = new Set(["tags", "region", ...handler.inputs.map((path) => path.split(".")[0] as string)]);
    return Object.keys(inputs).flatMap((input) => (taken.has(input) ? [] : [`${name}: ${input}`]));
  });
  expect(refused).toEqual([]);
});
