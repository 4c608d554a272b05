import { describe, expect, test } from "vitest";
import { confirmed, principalOf } from "./identity.ts";

const environment = { account: "111111111111", region: "eu-central-1", admin: undefined } as Parameters<
  typeof confirmed
>[1];
const session = "arn:aws:sts::111111111111:assumed-role/proof/run-7";

describe("who runs the proof on AWS", () => {
  test("must be of the account that was confirmed", () => {
    expect(() => confirmed({ Account: "222222222222", Arn: session }, environment)).toThrow(
      "FLEET_AWS_CONFIRM_ACCOUNT is 111111111111, but the credentials are of account 222222222222",
    );
    expect(() => confirmed({}, environment)).toThrow("account (unknown)");
    expect(confirmed({ Account: "111111111111", Arn: session }, environment)).toMatchObject({
      accountId: "111111111111",
      partition: "aws",
    });
  });

  test("is not the root user", () => {
    const Arn = "arn:aws:iam::111111111111:root";
    expect(() => confirmed({ Account: "111111111111", Arn }, environment)).toThrow("the root user's");
  });

  test("administers the spoke as the role behind the session, or as who is named", () => {
    expect(principalOf(session)).toBe("arn:aws:iam::111111111111:role/proof");
    expect(principalOf("arn:aws:iam::111111111111:user/ci")).toBe("arn:aws:iam::111111111111:user/ci");
    const admin = "arn:aws:iam::111111111111:role/ci/proof";
    expect(confirmed({ Account: "111111111111", Arn: session }, { ...environment, admin })).toMatchObject({ admin });
  });
});
