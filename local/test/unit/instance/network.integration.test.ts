import { expect, test } from "vitest";
import { instanceAt } from "../../../instance/addresses.ts";
import { run } from "../../../instance/command.ts";
import { ruleset } from "../../../instance/network.ts";

test("pods of an instance may reach its own range and nothing else", () => {
  const rules = ruleset(instanceAt("/x", 6));
  expect(rules).toContain('iifname "fl6c*" ip daddr 100.70.0.0/16 accept');
  expect(rules, "other hosts").toContain('iifname != "lo" ip daddr 100.70.0.0/16 drop');
  expect(rules.match(/iifname "fl6c\*" counter reject/g)?.length, "in forward and in input").toBe(2);
});

test("a failing command tells its arguments, its exit code and what it said", async () => {
  await expect(run(["sh", "-c", "echo not like this >&2; exit 3"])).rejects.toThrow(
    "failed (exit code 3): not like this",
  );
  await expect(run(["/no/such/program"])).rejects.toThrow("ENOENT");
  expect(await run(["cat"], { input: "given" })).toBe("given");
});
