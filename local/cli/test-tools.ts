import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { productPaths } from "../product-paths.ts";
import { run } from "../toolchain/run.ts";
import type { Step } from "./steps.ts";

/**
 * Downloads and compiles the Go programs that tests run and the local stack doesn't (actionlint, Kyverno's compiler), into
 * Go's own caches: no test then waits for a download, or takes what Go says about one for a program's output.
 */
export const testToolsStep: Step<unknown> = {
  name: "build what only the tests run",
  run: async (_, report) => {
    for (const name of (await readdir(productPaths.envtest)).sort()) {
      const folder = join(productPaths.envtest, name);
      if (!existsSync(join(folder, "go.mod"))) continue;
      report(name);
      // Its own program; without one, those that its go.mod names. Kyverno's controller is for the long tests alone.
      const programs = existsSync(join(folder, "main.go")) ? "." : "tool";
      await run(["go", "build", "-o", "/dev/null", programs], { cwd: folder, env: GO_ENVIRONMENT, background: true });
    }
  },
};

/** How Go runs in the modules of the tests: exactly the go.mod that is committed, on this machine's Go. */
export const GO_ENVIRONMENT = { CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local", GOWORK: "off" };
