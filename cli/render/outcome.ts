import { join } from "node:path";
import { tellFolder } from "./blame.ts";
import { CutError, type Cutter } from "./cutter.ts";
import { type Files, isFolder } from "./files.ts";
import type { Findings } from "./findings.ts";
import { nameOf, type Rendered, type Step } from "./fleet.ts";
import type { FluxBuild } from "./generate.ts";
import { inside } from "./inside.ts";
import { BuildError } from "./kustomize.ts";
import { missingPatches } from "./patches.ts";
import { buildProblem } from "./problems.ts";
import { rendered } from "./render.ts";
import { cutOf, folderAt, sourceOf } from "./sources.ts";
import { stepTree } from "./step-tree.ts";
import type { Tree, Trees } from "./tree.ts";
import { missingVariable } from "./variables.ts";
import type { Workspace } from "./workspace.ts";

/** What Flux makes of a step whose source and variables are known. */
export interface Outcome {
  /** What it reads; undefined when there is nothing to read. */
  readonly tree?: Tree;
  readonly objects: readonly Rendered[];
  /** Whether these are all the objects that it applies. */
  readonly complete: boolean;
  /** Whether something is broken, and told. */
  readonly broken: boolean;
  /** What was not looked at, and why. */
  readonly note?: string;
}

/** With what steps are built, and where problems with them are reported. */
export interface Builder {
  readonly workspace: Workspace;
  readonly build: FluxBuild;
  readonly files: Files;
  readonly findings: Findings;
  /** Folder of the checkouts that a source is taken from. */
  readonly root: (source: ReturnType<typeof sourceOf>) => string;
  readonly trees: (root: string) => Trees;
  readonly cutter: Cutter;
}

const nothing: Outcome = { objects: [], complete: false, broken: false };

/** The outcome of a step that is built from `repository`. */
export function outcomeOf(step: Step, repository: string, builder: Builder): Outcome {
  if (!builder.workspace.repositories.includes(repository))
    return { ...nothing, note: `${repository} is not among the repositories: what comes from it was not looked at` };
  const source = sourceOf(step);
  const root = cutRoot(step, repository, builder.root(source), builder);
  if (root === undefined) return { ...nothing, broken: true };
  const checkout = join(root, repository);
  const path = folderAt(source, String(step.manifest.spec.path ?? "."));
  const folder = inside(checkout, checkout, path);
  if (folder === undefined) return wrongPath(step, builder, `is outside ${repository}`);
  if (isFolder(folder)) return built(step, { folder, checkout, trees: builder.trees(root) }, builder);
  // A spoke without applications has no folder in gitops-workloads; nothing waits for one.
  if (step.manifest.spec.wait !== true && path.split("/").includes(step.on.name)) {
    const note = `${repository} has no ${path}: ${step.on.name} gets nothing from there`;
    return { ...nothing, note, complete: true };
  }
  if (tellFolder(step, builder.findings)) return { ...nothing, broken: true };
  return wrongPath(step, builder, `${repository} does not have`);
}

/** The folder of a step's checkout: of the whole repository, or of what its artifact has of it; undefined, and told, when it is never made. */
function cutRoot(step: Step, repository: string, root: string, { findings, cutter }: Builder): string | undefined {
  const cut = cutOf(step);
  if (!cut) return root;
  try {
    const folder = cutter.cut(cut.cuts, root, repository);
    if (folder !== undefined) return folder;
    findings.add(
      "source",
      step.place(["spec", "sourceRef", "name"]),
      `Kustomization ${nameOf(step)} takes ExternalArtifact ${step.raw.spec.sourceRef.name}, for which ${repository} has no folder`,
      "name the artifact of a folder that is there: spoke-<name> for spokes/<fleet>/<name>",
      step.on.name,
      "sourceRef",
    );
  } catch (error) {
    if (!(error instanceof CutError)) throw error;
    findings.add("source", error.generator.place(error.path), error.message, error.remedy, step.home.name);
  }
  return undefined;
}

function wrongPath(step: Step, { findings }: Builder, problem: string): Outcome {
  findings.add(
    "path",
    step.place(["spec", "path"]),
    `Kustomization ${nameOf(step)} applies ${step.raw.spec.path}, which ${problem}`,
    "name a folder of the repository, from its root",
    step.on.name,
    "path",
  );
  return { ...nothing, broken: true };
}

interface Place {
  readonly folder: string;
  readonly checkout: string;
  readonly trees: Trees;
}

function built(step: Step, { folder, checkout, trees }: Place, builder: Builder): Outcome {
  const { workspace, build, files, findings } = builder;
  const tree = stepTree(step, folder, checkout, trees, findings);
  const broken = { ...nothing, tree, broken: true };
  if (tree.broken) return broken;
  const reading = { tree, checkout };
  try {
    if (missingPatches(reading, build, files, findings)) return broken;
    const documents = build.build(folder, step.manifest.spec, reading);
    const variables = step.values && {
      ...{ values: step.values, findings },
      missing: (name: string) => missingVariable(name, step),
    };
    return { ...nothing, tree, objects: rendered(documents, step, tree, folder, variables), complete: true };
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    buildProblem(error, { step, tree, folder, workspace, findings });
    return broken;
  }
}
