import type { Readable } from "../../infra/settings.ts";
import { type Repository, repositories } from "../../lib/names.ts";
import type { FleetFacts } from "../fleet/facts.ts";
import { isMissing, untold } from "./aws.ts";
import { type Finding, note, wrong } from "./finding.ts";

/** A repository as the stack names it. */
export interface Source {
  readonly repository: Repository;
  readonly url: URL;
  readonly branch: string;
}

/** The repositories that the settings name. */
export function sources(settings: Readable): Source[] {
  const urls = { "gitops-system": settings.gitopsSystemRepoUrl, "gitops-workloads": settings.gitopsWorkloadsRepoUrl };
  const branches = {
    "gitops-system": settings.gitopsSystemRepoRevision,
    "gitops-workloads": settings.gitopsWorkloadsRepoRevision,
  };
  return repositories.flatMap((repository) => {
    const [url, branch] = [urls[repository], branches[repository]];
    return url && branch ? [{ repository, url: new URL(url), branch }] : [];
  });
}

/** The finding for a repository that can be read and lacks the branch. */
export const withoutBranch = (title: string, { url, branch }: Source): Finding =>
  wrong(
    title,
    `can read ${url.href}, which has no branch ${branch}`,
    `push ${branch}, or name another revision in the stack`,
  );

export interface CredentialQuestion {
  /** Name of the finding. */
  readonly title: string;
  readonly source: Source;
  /** Members of the secret that are needed. */
  readonly members: readonly string[];
  /** What to do after the first `pulumi up`, which makes the secret. */
  readonly afterwards: string;
  readonly credential: FleetFacts["credential"];
}

/** Tries the credential of a repository in Secrets Manager, with everything that Flux reads beside it. */
export async function withCredential(
  { title, source, members, afterwards, credential }: CredentialQuestion,
  attempt: (secret: Readonly<Record<string, string>>) => Promise<Finding>,
): Promise<Finding> {
  let found: Readonly<Record<string, string>>;
  try {
    found = await credential(source.repository);
  } catch (error) {
    const { cause = error } = error as Error;
    if (isMissing(cause)) return note(title, "is put into Secrets Manager by the first pulumi up", afterwards);
    return untold(title, cause, "secretsmanager:GetSecretValue and kms:Decrypt on the fleet's secrets");
  }
  const missing = members.filter((member) => found[member] === undefined);
  if (missing.length > 0)
    return wrong(title, `the secret in Secrets Manager has no member ${missing.join(", ")}`, "pulumi up");
  return attempt(found);
}
