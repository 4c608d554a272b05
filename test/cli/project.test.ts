import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectRoot, version } from "../../cli/project.ts";
import { UsageError } from "../../cli/usage.ts";
import { temporaryFolder } from "../support/temporary.ts";

const base = temporaryFolder("fleet-project");
/** A folder with a package.json, and one below it. */
function folder(name: string, packageJson: object): string {
  const below = join(base, name, "repos", "gitops-system");
  mkdirSync(below, { recursive: true });
  writeFileSync(join(base, name, "package.json"), JSON.stringify(packageJson));
  return below;
}

const checkout = folder("checkout", { name: "eks-gitops-fleet", version });
const older = folder("older", { name: "eks-gitops-fleet", version: "0.0.1" });
const other = folder("other", { name: "@acme/fleet", version });
const refusal = (...args: Parameters<typeof projectRoot>): string => {
  try {
    return projectRoot(...args);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
};

test("the commands of a checkout work on it, wherever they are called", () => {
  expect(projectRoot("", checkout, other)).toBe(join(base, "checkout"));
});

test("those of the package work on the checkout that they are called in", () => {
  expect(projectRoot("", other, checkout)).toBe(join(base, "checkout"));
});

test("a package.json that can't be read is none of the project's", () => {
  const below = folder("broken", {});
  writeFileSync(join(base, "broken", "package.json"), "{");
  expect(refusal("", below, below)).toContain("is in no checkout");
});

test("without a checkout it is said what is needed, and what can be done instead", () => {
  expect(refusal(", or give --bridge FILE", other, base)).toBe(`1 problem in fleet, nothing was changed:
  1. the current folder: is in no checkout of eks-gitops-fleet, whose stacks and files this command reads
       got:     ${base}
       allowed: a folder in a checkout of version ${version}, which these commands are
       do:      run it in one, or give --bridge FILE`);
});

test("a checkout of another version is left to its own commands", () => {
  expect(refusal("", other, older)).toContain(`got:     ${join(base, "older")}, version 0.0.1`);
});
