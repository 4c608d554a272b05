import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { fromBase64 } from "../../lib/base64.ts";
import { bridgeData } from "../../lib/bridge.ts";
import { clusterInfo, contractSchema } from "../../lib/bridge-documents.ts";
import { bridgeKeys, contractOf } from "../../lib/bridge-keys.ts";
import { example, hub } from "../functions/spoke/support/fixtures.ts";
import { settled } from "../functions/spoke/support/world.ts";

const validate = new Ajv2020({ strictTypes: false, allErrors: true }).compile(contractSchema());

function violations(data: Readonly<Record<string, string>>): string[] {
  validate(data);
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(" "),
  );
}

/** Data of the cluster secret that the function composes. */
function ofSpoke(name: string): Record<string, string> {
  const world = settled(example(name));
  return fromBase64(world.object("cluster-secret").data ?? {});
}

describe("the documents of the bridge contract", () => {
  test("hold for what the hub and the spokes emit", () => {
    expect(violations(bridgeData(hub))).toEqual([]);
    for (const name of ["minimal", "production", "sandbox", "other-account"])
      expect(violations(ofSpoke(name))).toEqual([]);
  });

  test("have examples that are allowed", () => {
    for (const [key, { form }] of Object.entries(bridgeKeys))
      expect(form.example, key).toMatch(new RegExp(form.pattern));
  });

  test("can't be written into a text that has no place for them", () => {
    expect(() => clusterInfo("data: {}")).toThrow('needs two comments, "generated: keys" and "end: keys"');
  });

  test("bring to a spoke no fact that only the hub's manifests use: without it, its chain would fail until pulumi up", () => {
    const info = clusterInfo("data:\n  # generated: keys\n  # end: keys\n");
    const brought = [...info.matchAll(/^ {2}(\w+): /gm)].map(([, key]) => key);
    const own = Object.values(bridgeKeys).filter(({ forHub }) => forHub);
    expect(own.map(({ key }) => key)).toEqual([
      ...["company_tags", "sealing_key_arns", "gitops_system_signers", "gitops_workloads_signers"],
      ...["function_digest", "cluster_api_kms_key_arn", "spoke_places"],
    ]);
    for (const key of Object.keys(bridgeKeys))
      expect(brought.includes(key), key).toBe(contractOf(key)?.forHub === undefined);
  });

  test("refuse a missing key, an unknown key and a value of another form", () => {
    const { aws_region: _, ...less } = bridgeData(hub);
    expect(violations(less)).toEqual([expect.stringContaining("aws_region")]);
    expect(violations({ ...bridgeData(hub), token: "abc" })).toEqual([expect.stringContaining("token")]);
    expect(violations({ ...bridgeData(hub), aws_account_id: "12345" })).toEqual([
      expect.stringContaining("/aws_account_id must match pattern"),
    ]);
  });

  test("know the keys of an add-on by their endings", () => {
    expect(contractOf("crossplane_iam_role_arn")?.form.is).toBe("ARN");
    expect(contractOf("_iam_role_arn")).toBeUndefined();
    expect(contractOf("crossplane_version")).toBeUndefined();
  });
});
