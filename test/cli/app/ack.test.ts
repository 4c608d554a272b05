import { describe, expect, test } from "vitest";
import { ackAddonProblems, awsEngineProblems, overlayOf } from "../../../cli/app/ack.ts";
import { request } from "../support/apps.ts";

const asked = { ...request, awsEngine: "ack" };
const facts = (...addons: string[]) => ({ sealing: "environment", addons, path: "spoke.yaml" }) as const;

describe("an application that orders by ACK's kinds", () => {
  test("takes the overlay of its environment that has them", () => {
    expect(overlayOf("dev", "ack")).toBe("./overlays/dev-ack");
    for (const engine of ["crossplane", undefined]) expect(overlayOf("dev", engine)).toBe("./overlays/dev");
  });

  test("needs the controllers of what it may order on its Spoke, where that is known", () => {
    expect(ackAddonProblems(asked, facts("ack_dynamodb", "ack_sqs"))).toEqual([]);
    expect(ackAddonProblems({ ...asked, awsKinds: ["dynamodb.Table"] }, facts("ack_dynamodb"))).toEqual([]);
    expect(ackAddonProblems(asked, undefined)).toEqual([]);
    expect(ackAddonProblems(asked, facts("ack_dynamodb"))).toEqual([
      {
        key: "--aws-engine",
        what: "needs the add-on ack_sqs on the spoke blue",
        got: "spec.addons: [ack_dynamodb] in spoke.yaml",
        allowed: "a Spoke with ack_sqs in spec.addons",
        remedy: "add it there and push, or leave --aws-engine out",
      },
    ]);
    expect(ackAddonProblems(asked, facts())).toMatchObject([
      {
        what: "needs the add-ons ack_dynamodb and ack_sqs on the spoke blue",
        remedy: expect.stringMatching(/^add them/),
      },
    ]);
  });

  test("orders a table or a queue, which are all that ACK makes here", () => {
    expect(awsEngineProblems(asked)).toEqual([]);
    expect(awsEngineProblems({ ...asked, awsKinds: ["s3.Bucket", "sqs.Queue"] })).toEqual([]);
    for (const awsKinds of [["s3.Bucket"], ["none"]])
      expect(awsEngineProblems({ ...asked, awsKinds })).toMatchObject([
        {
          key: "--aws-engine",
          got: `--aws-kind ${awsKinds.join()}`,
          allowed: "ack beside dynamodb.Table or sqs.Queue",
        },
      ]);
  });

  test("is told of an engine that nobody has", () => {
    expect(awsEngineProblems({ ...request, awsEngine: "terraform" })).toMatchObject([
      { key: "--aws-engine", what: "has an unknown value", got: "terraform", allowed: "crossplane, ack" },
    ]);
  });

  test("is asked for nothing of it by Crossplane's kinds", () => {
    for (const awsEngine of ["crossplane", undefined]) {
      const other = { ...request, awsEngine, awsKinds: ["none"] };
      expect(awsEngineProblems(other)).toEqual([]);
      expect(ackAddonProblems(other, facts())).toEqual([]);
    }
  });
});
