import { describe, expect, test } from "vitest";
import { stackOf } from "../../../cli/diff/preview.ts";

const urn = (type: string, name: string) => `urn:pulumi:prod::eks-gitops-fleet::fleet:index:Hub$${type}::${name}`;

const step = (op: string, type: string, name: string, more: object = {}) => ({ op, urn: urn(type, name), ...more });

describe("pulumi preview --json", () => {
  test("is read into what happens to each resource; a replacement counts once, what keeps data comes first", () => {
    const steps = [
      step("same", "aws:iam/role:Role", "hub"),
      step("create", "aws:iam/role:Role", "new"),
      step("update", "aws:eks/cluster:Cluster", "hub", {
        detailedDiff: { "vpcConfig.publicAccessCidrs[0]": { kind: "update" } },
      }),
      step("create-replacement", "aws:kms/key:Key", "secrets"),
      step("replace", "aws:kms/key:Key", "secrets", {
        detailedDiff: { multiRegion: { kind: "update-replace" } },
        replaceReasons: ["multiRegion"],
      }),
      step("delete-replaced", "aws:kms/key:Key", "secrets"),
      step("delete", "aws:iam/role:Role", "old"),
      step("delete", "tls:index/privateKey:PrivateKey", "sealing"),
    ];
    const stack = stackOf("prod", `a plugin says hello\n${JSON.stringify({ steps }, null, 4)}`);
    expect(stack.changes.map(({ operation, type, name, stateful }) => [operation, type, name, stateful])).toEqual([
      ["delete", "tls:index/privateKey:PrivateKey", "sealing", true],
      ["replace", "aws:kms/key:Key", "secrets", true],
      ["delete", "aws:iam/role:Role", "old", false],
      ["update", "aws:eks/cluster:Cluster", "hub", true],
      ["create", "aws:iam/role:Role", "new", false],
    ]);
    expect(stack.changes[1]).toMatchObject({ properties: ["multiRegion"], because: ["multiRegion"] });
    expect(stack).toMatchObject({ name: "prod", same: 1, errors: [] });
  });

  test("that failed says why", () => {
    const diagnostics = [
      { severity: "error", message: "vpcCidr is wrong\n" },
      { severity: "warning", message: "old" },
    ];
    expect(stackOf("dev", JSON.stringify({ diagnostics })).errors).toEqual(["vpcCidr is wrong"]);
  });

  test.each(["", "error: no stack", "[]"])("that is none is refused: %j", (text) => {
    expect(() => stackOf("dev", text)).toThrow(/--preview dev: .*pulumi preview --json --stack dev/);
  });
});
