/** The local stack makes what the program asks for: inputs that the stand-in for aws refuses are found here, not at its first start. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { handlers } from "@eks-gitops-fleet/local/aws";
import { expect, test } from "vitest";
import { parse } from "yaml";

type Resources = readonly Readonly<Record<string, { readonly inputs?: Readonly<Record<string, unknown>> }>>[];

test.each(["dev", "prod"])("the stand-in takes every input of the AWS resources of %s", (stack) => {
  const text = readFileSync(join(import.meta.dirname, "golden", `${stack}.resources.yaml`), "utf8");
  const refused = (parse(text) as Resources).flatMap(Object.entries).flatMap(([name, { inputs = {} }]) => {
    const token = name.split("::")[0] as string;
    if (!token.startsWith("aws:")) return [];
    const handler = handlers.get(token);
    if (!handler) return [`${name}: there is no handler`];
    const taken = new Set(["tags", "region", ...handler.inputs.map((path) => path.split(".")[0] as string)]);
    return Object.keys(inputs).flatMap((input) => (taken.has(input) ? [] : [`${name}: ${input}`]));
  });
  expect(refused).toEqual([]);
});
