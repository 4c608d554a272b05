import { expect, test } from "vitest";
import { overrides } from "../../../local/cli/pulumi.ts";

test("an instance's stack gets the values that only the instance knows", () => {
  expect(overrides({ "fleet:a": "x" }, { "fleet:gitKnownHosts": "host key" })).toEqual({
    "fleet:gitKnownHosts": "host key",
  });
});

test("where a stack names the accounts that it may run in, that becomes the emulated account", () => {
  expect(overrides({ "aws:allowedAccountIds": ["111111111111"] }, {})).toEqual({
    "aws:allowedAccountIds": ["000000000000"],
  });
});
