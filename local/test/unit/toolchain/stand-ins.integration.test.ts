import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { bundle } from "../../../product.ts";
import { CHECKOUT } from "../../../product-paths.ts";
import { PROGRAM_ENTRY, sources } from "../../../toolchain/stand-ins.ts";
import { scratch } from "../../support/scratch.ts";

const folder = scratch("fleet-stand-ins-");

describe("the program in the images of ACK's controllers", () => {
  test("is made again when anything changes that it is made of", async () => {
    const { metafile } = await build({
      entryPoints: [PROGRAM_ENTRY],
      absWorkingDir: CHECKOUT,
      bundle: true,
      packages: "external",
      platform: "node",
      write: false,
      metafile: true,
      format: "esm",
    });
    const isKnown = (input: string) => sources.some((source) => input === source || input.startsWith(`${source}/`));
    expect(Object.keys(metafile.inputs).filter((input) => !isKnown(input))).toEqual([]);
  });

  test("needs no packages, and refuses to run outside of a pod, and flags that it does not honour", async () => {
    const file = join(folder, "program.mjs");
    writeFileSync(file, await bundle(PROGRAM_ENTRY));
    const run = (...args: string[]) => spawnSync(process.execPath, [file, ...args], { encoding: "utf8", env: {} });
    const least = [
      "--aws-region=eu-central-1",
      "--enable-carm=false",
      "--enable-cross-namespace=false",
      "--feature-gates=ReadOnlyResources=false",
    ];
    expect(run("sqs", ...least)).toMatchObject({ status: 1, stderr: expect.stringContaining("run this in a pod") });
    expect(run("sqs", "--aws-region=eu-central-1")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("--enable-carm=true: allowed is false"),
    });
  });
});
