import { type Finding, note, ok, wrong } from "./finding.ts";
import { type Answer, type Ask, unansweredBy } from "./github.ts";
import type { EnvironmentsOptions } from "./github-environments.ts";
import { placesOf } from "./github-roles.ts";
import type { Stack } from "./stack.ts";

/**
 * Who can push the tags that release: a tag's own release.yml runs, so its author can remove the environment and its reviewers, and still gets the
 * signature that packageVerification trusts. Fields and rules: GitHub Docs, "REST API endpoints for rules" (2026-03-10).
 */

const guide = "docs/guides/signatures.md#publish-it";
const title = "tags v*";

/** Patterns that contain every `v*.*.*`: `*` doesn't match a slash there, as in release.yml (GitHub Docs, "Creating rulesets", FNM_PATHNAME). */
const whole: readonly string[] = ["~ALL", "refs/tags/*", "refs/tags/**/*", "refs/tags/v*", "refs/tags/v*.*.*"];

/** Rules that only users with bypass permission pass, with the verb of what they restrict. */
const verbs = { creation: "create", update: "move", deletion: "delete" } as const;
type Restriction = keyof typeof verbs;

interface Listed {
  readonly id: number;
  readonly enforcement: "disabled" | "active" | "evaluate";
}

interface Ruleset {
  readonly name: string;
  readonly conditions?: {
    readonly ref_name?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] };
  };
  readonly rules?: readonly { readonly type: string }[];
  /** Missing unless the caller can edit the ruleset. */
  readonly bypass_actors?: readonly { readonly actor_type: string; readonly actor_id?: number | null }[];
}

/** The base role of everyone who can push (terraform-provider-github, docs/resources/repository_ruleset.md, `bypass_actors`). */
const WRITE_ROLE = 4;
const roles: Readonly<Record<number, string>> = { 2: "maintain", 4: "write", 5: "admin" };

const coversReleases = ({ conditions }: Ruleset): boolean =>
  (conditions?.ref_name?.exclude ?? []).length === 0 &&
  (conditions?.ref_name?.include ?? []).some((pattern) => whole.includes(pattern));

const restricts = (ruleset: Ruleset, restriction: Restriction): boolean =>
  (ruleset.rules ?? []).some(({ type }) => type === restriction);

/** A ruleset that everyone who can push bypasses restricts no one. */
const isOpen = ({ bypass_actors: actors = [] }: Ruleset): boolean =>
  actors.some(({ actor_type: type, actor_id: id }) => type === "RepositoryRole" && id === WRITE_ROLE);

/** The active rulesets with all fields, or an answer other than 200. */
async function rulesetsOf(path: string, ask: Ask): Promise<readonly Ruleset[] | Answer> {
  const listed = await ask(`repos/${path}/rulesets?includes_parents=true&targets=tag&per_page=100`);
  if (listed.status !== 200) return listed;
  const active = (listed.body as unknown as readonly Listed[]).filter(({ enforcement }) => enforcement === "active");
  const answers = await Promise.all(active.map(({ id }) => ask(`repos/${path}/rulesets/${id}?includes_parents=true`)));
  return answers.find(({ status }) => status !== 200) ?? answers.map(({ body }) => body as unknown as Ruleset);
}

/** Who bypasses the rulesets that restrict creation. */
function bypassing(rulesets: readonly Ruleset[]): string {
  const actors = rulesets.flatMap(({ bypass_actors: found }) => found ?? []);
  const named = actors.map(({ actor_type: type, actor_id: id }) =>
    type === "RepositoryRole" ? `role ${roles[id ?? 0] ?? id}` : `${type}${typeof id === "number" ? ` ${id}` : ""}`,
  );
  return [...new Set(named)].join(", ") || "no one";
}

function judged(path: string, rulesets: readonly Ruleset[]): Finding {
  const covering = rulesets.filter(coversReleases);
  const todo = `add a tag ruleset for refs/tags/v* as ${guide} describes`;
  const open = (Object.keys(verbs) as Restriction[]).filter(
    (restriction) => !covering.some((ruleset) => restricts(ruleset, restriction) && !isOpen(ruleset)),
  );
  if (open.length > 0)
    return wrong(
      title,
      `everyone who can push to ${path} can ${open.map((each) => verbs[each]).join(", ")} them: a tag's own release.yml publishes and signs, without the reviewers of release`,
      todo,
    );
  const creating = covering.filter((ruleset) => restricts(ruleset, "creation"));
  if (creating.some(({ bypass_actors: actors }) => actors === undefined))
    return note(
      title,
      `are restricted by ${creating.map(({ name }) => name).join(", ")}, but GitHub does not show to this token who bypasses it`,
      "let an administrator of the repository run fleet doctor",
    );
  return ok(title, `can be created only by: ${bypassing(creating)}`);
}

/** Whether only some users can create, move and delete the tags that release.yml releases, once the repository has its environment. */
export async function checkReleaseTags(stack: Stack, { root, run, github }: EnvironmentsOptions): Promise<Finding[]> {
  if (stack.embedded) return [];
  const { project } = await placesOf(stack, root, run);
  const ask = project && (await github(project.host));
  if (project === undefined || ask === undefined) return [];
  // Without the environment nothing is released yet, and other answers are reported with the environments.
  if ((await ask(`repos/${project.path}/environments/release`)).status !== 200) return [];
  const found = await rulesetsOf(project.path, ask);
  return "status" in found ? [unansweredBy(title, project.host, found)] : [judged(project.path, found)];
}
