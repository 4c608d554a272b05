import { expect, test } from "vitest";
import { previewResult } from "../../../cli/preview-result.ts";

const output = `Previewing update (dev):
 +  pulumi:pulumi:Stack eks-gitops-fleet-dev create
Outputs:
    fleet: "fleet-dev"

\u001b[1mResources:\u001b[0m
    \u001b[32m+ 118 to create\u001b[0m
    2 unchanged

Policy Violations:
    none
`;

test("a preview ends with what it found, and that nothing was deployed", () => {
  expect(previewResult("dev", 0, output)).toBe(
    "Preview of dev: done, nothing was deployed.\nResources:\n    + 118 to create\n    2 unchanged",
  );
  expect(previewResult("dev", 0, output.slice(0, output.indexOf("\n\nPolicy")))).toContain("2 unchanged");
});

test("a preview whose output counts nothing points to it", () => {
  expect(previewResult("dev", 0, '{"steps":[]}\n')).toBe(
    "Preview of dev: done, nothing was deployed.\nIts output is above.",
  );
});

test("a preview that failed says so, whatever Pulumi counted", () => {
  const failed = previewResult("dev", 255, output);
  expect(failed).toContain("Preview of dev: FAILED");
  expect(failed).toContain("exit code 255");
  expect(failed).not.toContain("to create");
});
