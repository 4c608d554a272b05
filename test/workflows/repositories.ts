import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ProjectCopy, sampleApp, withPipelines } from "../../cli/init/pipelines.ts";
import { repositories } from "../../lib/names.ts";

/** The workflows and pipelines of repos/, as fleet init fills them in. */

const root = join(import.meta.dirname, "..", "..");

export const repositoryNames = [...repositories, sampleApp] as const;
type Name = (typeof repositoryNames)[number];

export const workflowFile = ".github/workflows/fleet.yml";
export const pipelineFile = ".gitlab-ci.yml";
const files = [workflowFile, pipelineFile, "CODEOWNERS"];

/** The repositories of an organization at a host, and this project's copy beside them. */
const askedAt = (host: string) => ({
  systemUrl: `ssh://git@${host}/acme/gitops-system.git`,
  workloadsUrl: `ssh://git@${host}/acme/gitops-workloads.git`,
  sampleAppUrl: `ssh://git@${host}/acme/payment-app-manifests.git`,
});
const copyAt = (host: string): ProjectCopy => ({
  host,
  path: "acme/eks-gitops-fleet",
  commit: "3d3c42e5aac5ba805825da76410c181273ba90b1",
  version: "v0.1.0",
});

/** What fleet init writes of a repository's workflow, pipeline and CODEOWNERS at a host. */
export function filledIn(name: Name, host: string, project: ProjectCopy | undefined = copyAt(host)) {
  const written = Object.fromEntries(
    files.map((file) => [file, readFileSync(join(root, "repos", name, file), "utf8")]),
  );
  return withPipelines(name, written, askedAt(host), project);
}
