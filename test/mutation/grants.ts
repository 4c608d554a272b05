import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { stringify } from "yaml";
import { repos } from "../repos/support/spoke.ts";
import { judged, type Mutated, mutatedIn, sourcesOf } from "./documents.ts";
import { root, Sandbox } from "./sandbox.ts";
import type { Mutant } from "./score.ts";

/** Mutants of what a tenant is granted, and of how the spoke's controllers are set: asked are the tests of repos/, in a copy of the project. */

const grants = [
  ...["aws", "namespace", "network", "rbac", "sync"].map((name) => `gitops-workloads/templates/app/${name}.yaml`),
  ...["external-secrets", "flux", "sealed-secrets"].map((name) => `gitops-system/spoke-bootstrap/${name}/release.yaml`),
].map((file) => join(repos, file));

const tests = ["test/repos/spoke-chain.test.ts", "test/repos/workloads.test.ts"];

/** The file with the mutant in the place of the object. */
function textOf({ source, object }: Mutated): string {
  const objects = sourcesOf(source.file).map((each) => (each === source ? object : each.content));
  return objects.map((each) => stringify(each, { lineWidth: 0, aliasDuplicateObjects: false })).join("---\n");
}

/** Asks the tests of one mutant after the other. */
async function ask(sandbox: Sandbox, queue: Mutated[]): Promise<Mutant[]> {
  const mutants: Mutant[] = [];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const file = join(sandbox.dir, relative(root, next.source.file));
    await writeFile(file, textOf(next));
    mutants.push(judged(next, await sandbox.passes()));
    await writeFile(file, textOf({ ...next, object: next.source.content as Mutated["object"] }));
  }
  return mutants;
}

/** @throws Error when the tests would fail without any change */
export async function grantMutants(every: number): Promise<Mutant[]> {
  const queue = mutatedIn(grants).filter((_, index) => index % every === 0);
  const sandboxes = await Promise.all(Array.from({ length: availableParallelism() }, () => Sandbox.create(tests)));
  try {
    const [first] = sandboxes;
    if (!(await first?.passes())) throw new Error(`${tests.join(" and ")} must pass first`);
    return (await Promise.all(sandboxes.map((sandbox) => ask(sandbox, queue)))).flat();
  } finally {
    for (const sandbox of sandboxes) await sandbox.remove();
  }
}
