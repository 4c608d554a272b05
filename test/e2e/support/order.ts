import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files about spokes that need no cluster but the hub, and no spoke on it. */
const ON_THE_HUB_ALONE = ["spoke-api.test.ts", "spoke-commits.test.ts", "spoke-guard.test.ts"];

/**
 * Where a file of the e2e tests comes, by its name: what needs the hub alone, then its life and death (which ends with a full
 * `npm start`), then the spokes on it.
 */
function stageOf(file: string): number {
  const name = basename(file);
  if (name === "lifecycle.long.test.ts") return 1;
  return name.startsWith("spoke-") && !ON_THE_HUB_ALONE.includes(name) ? 2 : 0;
}

/** Runs the files of one instance in an order in which none needs what another has removed; within a stage by name. */
export default class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const key = ({ moduleId }: TestSpecification) => `${stageOf(moduleId)} ${moduleId}`;
    const ofInstance = (file: TestSpecification) => !["unit", "integration"].includes(file.project.name);
    const others = await super.sort(files.filter((file) => !ofInstance(file)));
    return [...others, ...files.filter(ofInstance).sort((a, b) => key(a).localeCompare(key(b)))];
  }
}
