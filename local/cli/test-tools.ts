import { join } from "node:path";
import { productPaths } from "../product-paths.ts";
import { run } from "../toolchain/run.ts";
import type { Step } from "./steps.ts";

/**
 * Compiles actionlint, which only tests run, into Go's cache: no test then waits for a download, or reads Go's messages as a program's
 * output.
 */
export const testToolsStep: Step<unknown> = {
  name: "build what only the tests run",
  run: async () => {
    const folder = join(productPaths.envtest, "actionlint");
    await run(["go", "build", "-o", "/dev/null", "tool"], { cwd: folder, env: GO_ENVIRONMENT, background: true });
  },
};

/** How Go runs in the modules of the tests: exactly the committed go.mod, on this machine's Go. */
export const GO_ENVIRONMENT = { CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local", GOWORK: "off" };
