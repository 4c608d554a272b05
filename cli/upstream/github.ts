import { ask, type Client, Unanswered, Wrong } from "./http.ts";
import type { ActionReference } from "./references.ts";

/** @throws Wrong when the repository or the tag is not there, or the tag is another commit; Unanswered */
export async function checkAction(client: Client, { repository, commit, tag }: ActionReference): Promise<void> {
  const url = `https://api.github.com/repos/${repository}/commits/${tag}`;
  const response = await ask(client, url, {
    headers: {
      // The commit alone, of an annotated tag too (GitHub REST API, "Get a commit").
      accept: "application/vnd.github.sha",
      "user-agent": "eks-gitops-fleet",
      ...(client.githubToken === undefined ? {} : { authorization: `Bearer ${client.githubToken}` }),
    },
  });
  if (response.ok) {
    const found = (await response.text()).trim();
    if (found !== commit) throw new Wrong(`${tag} of ${repository} is commit ${found}, the workflow says ${commit}`);
    return;
  }
  if ([404, 409, 422].includes(response.status))
    throw new Wrong(`${repository} has no tag ${tag} (status ${response.status})`);
  const remedy = response.status === 403 ? ": too many requests an hour without a token; set GITHUB_TOKEN" : "";
  throw new Unanswered(`${url}: status ${response.status}${remedy}`);
}
