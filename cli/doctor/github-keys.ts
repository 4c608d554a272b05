import { isGitHubCloud } from "../../lib/github-api.ts";
import { placeOf } from "../init/pipelines.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import type { Source } from "./git-sources.ts";
import { type GitHub, logInToGitHub, unansweredBy } from "./github.ts";

interface Owner {
  readonly host: string;
  readonly name: string;
}

/** The owners at GitHub of the repositories that Flux reads with deploy keys. */
function owners(sources: readonly Source[]): Owner[] {
  const found = sources.flatMap(({ url }) => {
    const place = placeOf(url.href);
    if (place === undefined || !isGitHubCloud(place.host)) return [];
    return [{ host: place.host, name: place.path.split("/")[0] ?? "" }];
  });
  return [...new Map(found.map((owner) => [`${owner.host}/${owner.name}`, owner])).values()];
}

const field = "deploy_keys_enabled_for_repositories";
const app = "or use a GitHub App instead (docs/guides/git-access.md#a-github-app)";
const allow = ({ name }: Owner) => `gh api -X PATCH orgs/${name} -F ${field}=true`;
const read = ({ name }: Owner) => `gh api orgs/${name} --jq .${field}`;

async function ofOwner(owner: Owner, github: GitHub): Promise<Finding[]> {
  const title = `deploy keys of ${owner.name}`;
  const ask = await github(owner.host);
  if (ask === undefined) {
    const told = `whether ${owner.name} allows them isn't known without a token: new organizations disallow them`;
    return [note(title, told, `${logInToGitHub}, or ask an owner to run: ${read(owner)}`)];
  }
  const answer = await ask(`orgs/${owner.name}`);
  // A user, who has no such setting.
  if (answer.status === 404) return [];
  if (answer.status !== 200) return [unansweredBy(title, owner.host, answer)];
  // GitHub Docs, "Restricting deploy keys in your organization". GitHub leaves the field out for others than owners.
  switch (answer.body[field]) {
    case true:
      return [ok(title, "are allowed by the organization")];
    case false:
      return [
        wrong(
          title,
          "are disallowed by the organization: GitHub rejects new ones with status 422, and disables those that exist",
          `let an owner allow them (Settings, Member privileges, Deploy keys): ${allow(owner)}\n${app}`,
        ),
      ];
    default:
      return [
        note(
          title,
          "only an owner of the organization, with a token of the scope admin:org (gh auth refresh --scopes admin:org), can read whether it allows them: new organizations disallow them",
          `ask an owner to run: ${read(owner)}\nIf it prints false: ${allow(owner)}, ${app}`,
        ),
      ];
  }
}

/** Whether the organizations of the repositories allow deploy keys, which Flux's credential is made of only by the first pulumi up. */
export async function checkDeployKeysAllowed(sources: readonly Source[], github: GitHub): Promise<Finding[]> {
  return (await Promise.all(owners(sources).map((owner) => ofOwner(owner, github)))).flat();
}
