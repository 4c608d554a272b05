import { expect, test } from "vitest";
import { refusalIn } from "../../../../gateway/aps/rule-errors.ts";

const answer = "failed to reload config";
const folder = "/cloud/aps/workspaces/ws-1/rules";

test("the reason that Prometheus logs is told, without where its files are", () => {
  const log = [
    'ts=2026-11-25T13:21:00Z level=error msg="loading groups failed" err="/cloud/aps/workspaces/ws-1/rules/bad.yaml: could not parse \\"sum((\\""',
    'ts=2026-11-25T13:21:00Z level=error msg="Failed to apply configuration" err="error loading rules, previous rule set restored"',
  ].join("\n");
  expect(refusalIn(log, folder, answer)).toBe('bad.yaml: could not parse "sum(("');
});

test("without one in the log, its answer is", () => {
  expect(refusalIn("level=warn msg=other", folder, answer)).toBe(answer);
});
