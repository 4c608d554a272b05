import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { goWork, readPackage } from "../../../toolchain/go.ts";
import { mainGroup } from "../../../toolchain/go-groups.ts";
import { scratch } from "../../support/scratch.ts";

const dir = scratch("fleet-go-package-");

it("weighs a package by its source and its dependencies, but not by data in a file", () => {
  writeFileSync(join(dir, "code.go"), "x".repeat(1000));
  writeFileSync(join(dir, "data.go"), "x".repeat(5_000_000));
  const listed = readPackage(`example.com/p\t${dir}\t7\tcode.go\tdata.go`);
  expect(listed).toEqual({ path: "example.com/p", dir, bytes: 401_000, dependencies: 7 });
  const unsafe = readPackage("unsafe\t/usr/local/go/src/unsafe\t0\t");
  expect(goWork(mainGroup, [listed, unsafe]).slice(0, 2)).toEqual([
    { id: dir, weight: 401_700 },
    { id: "/usr/local/go/src/unsafe", weight: 0 },
  ]);
});

it("counts each program of a group, and nothing of a group that is cached", () => {
  const [, ...programs] = goWork(mainGroup, [readPackage("unsafe\t/usr/local/go/src/unsafe\t0\t")]);
  expect(programs.map(({ id }) => id)).toEqual(mainGroup.programs.map((name) => `main/${name}`));
  expect(goWork(mainGroup, [])).toEqual([]);
});
