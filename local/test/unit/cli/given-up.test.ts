import { describe, expect, it } from "vitest";
import { failureCheck, givenUp } from "../../../cli/given-up.ts";
import type { Spoke } from "../../../cli/spokes.ts";

const failure =
  "NodeGroup blue-nodes: AWS reports the status CREATE_FAILED: i-0a1: NodeCreationFailure: Instances failed to join the kubernetes cluster (delete it)";
const spoke = (message: string, status = "False"): Spoke => ({
  metadata: { name: "blue" },
  spec: {},
  status: { conditions: [{ type: "NodesReady", status, reason: "NodesNotJoined", message }] },
});

describe("a spoke with a node group that EKS failed to create", () => {
  it("is given up with the message of its condition", () => {
    expect(givenUp(spoke(failure))).toBe(failure);
    expect(givenUp(spoke("the nodes: making node-group-1"))).toBeUndefined();
    expect(givenUp(spoke(failure, "True"))).toBeUndefined();
    expect(givenUp({ metadata: { name: "blue" }, spec: {} })).toBeUndefined();
  });

  it("fails the wait only after Crossplane was made to look again, and has found the same", async () => {
    const asked: string[] = [];
    let clock = 0;
    const kubectl = async (args: readonly string[]) => {
      asked.push(args.join(" "));
      return "";
    };
    const check = failureCheck(kubectl, () => clock);
    await check(spoke(failure));
    clock = 9_000;
    await check(spoke("the nodes: making node-group-1"));
    clock = 30_000;
    await check(spoke(failure));
    clock = 39_000;
    await check(spoke(failure));
    expect(asked).toEqual([
      expect.stringMatching(/^annotate nodegroups.eks.aws.m.upbound.io --all --all-namespaces .*look-again=1970/),
      expect.stringContaining("look-again=1970-01-01T00:00:30"),
    ]);
    clock = 40_000;
    await expect(check(spoke(failure))).rejects.toThrow(`spoke blue can't become Ready automatically: ${failure}`);
  });
});
