import { type TestContext, test } from "vitest";

/** A step of the proof that was tried. */
export interface Tried {
  readonly name: string;
  /** Milliseconds. */
  readonly took: number;
  readonly passed: boolean;
}

/** Steps as tests of one file, in order: after a failure those that build are skipped, those that remove are not. */
export function proofSteps(now: () => number = () => performance.now()) {
  const tried: Tried[] = [];

  async function attempt(name: string, run: () => Promise<void>): Promise<void> {
    const started = now();
    let passed = false;
    try {
      await run();
      passed = true;
    } finally {
      tried.push({ name, took: now() - started, passed });
      // vitest tells at the end of the file only, which is hours away, or never where a run is cut off.
      console.log(`${passed ? "passed" : "FAILED"}: ${name}`);
    }
  }

  return {
    /** What was tried until now. */
    tried: tried as readonly Tried[],
    /** A test that does not run once a step has failed. @param isSelected whether this run has it */
    step(name: string, run: () => Promise<void>, isSelected = true): void {
      test(name, async (context: TestContext) => {
        context.skip(!isSelected, "FLEET_AWS_CASES doesn't select it");
        const failed = tried.find(({ passed }) => !passed);
        context.skip(failed !== undefined, `not tried after the failure of: ${failed?.name}`);
        await attempt(name, run);
      });
    },
    /** A test that runs whatever has failed before. */
    removal(name: string, run: () => Promise<void>): void {
      test(name, () => attempt(name, run));
    },
  };
}
