import { expect, test } from "vitest";
import { parse } from "yaml";
import { configCopy } from "../../../local/cli/stack.ts";

const original = 'config:\n  fleet:a: "1"\n  aws:allowedAccountIds:\n    - "111111111111"\n';

test("the copy of a stack's config has the project's values and those of the instance", () => {
  expect(parse(configCopy(original, { "fleet:gitKnownHosts": "host key" }, undefined)).config).toMatchObject({
    "fleet:a": "1",
    "fleet:gitKnownHosts": "host key",
  });
});

test("allowed accounts become the emulated one; a stack without the setting gets none", () => {
  expect(parse(configCopy(original, {}, undefined)).config["aws:allowedAccountIds"]).toEqual(["000000000000"]);
  expect(parse(configCopy("config:\n  fleet:a: x\n", {}, undefined)).config).toEqual({ "fleet:a": "x" });
});

test("Pulumi's salt in an earlier copy is kept, its values are not", () => {
  const earlier = "config:\n  fleet:a: old\n  fleet:gone: x\nencryptionsalt: v1:salt\n";
  expect(parse(configCopy("config:\n  fleet:a: new\n", {}, earlier))).toEqual({
    config: { "fleet:a": "new" },
    encryptionsalt: "v1:salt",
  });
});
