import { describe, expect, it } from "vitest";
import { previewOptions } from "../../../cli/preview-options.ts";

describe("previewOptions", () => {
  it("passes every flag except its own to pulumi preview", () => {
    expect(previewOptions(["local", "--diff", "--from-scratch", "--expect-no-changes"])).toEqual({
      stack: "local",
      fromScratch: true,
      flags: ["--diff", "--expect-no-changes"],
    });
    expect(previewOptions(["dev", "--diff"])).toEqual({ stack: "dev", fromScratch: false, flags: ["--diff"] });
  });

  it.each([[[]], [["--from-scratch"]], [["--diff", "local"]]])(
    "rejects %j, which doesn't start with a stack",
    (argv) => {
      expect(() => previewOptions(argv)).toThrow(/^<stack> is required: npm run preview -- <stack> \[--from-scratch\]/);
    },
  );
});
