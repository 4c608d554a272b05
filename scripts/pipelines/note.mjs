// The job comment of .gitlab-ci.yml in the fleet's repositories (repos/): writes the note of the merge request, or updates it. Runs on a
// plain Node with nothing installed: node note.mjs <file>, with FLEET_NOTE_TOKEN and GitLab's own variables.
import { existsSync, readFileSync } from "node:fs";

const { FLEET_NOTE_TOKEN = "", CI_API_V4_URL, CI_MERGE_REQUEST_PROJECT_ID, CI_MERGE_REQUEST_IID } = process.env;
const notes = `projects/${CI_MERGE_REQUEST_PROJECT_ID}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;

/** @throws Error with GitLab's own words */
async function ask(method, path, body) {
  const response = await fetch(`${CI_API_V4_URL}/${path}`, {
    method,
    headers: { "PRIVATE-TOKEN": FLEET_NOTE_TOKEN, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok)
    throw new Error(
      `GitLab answers ${response.status} to ${method} ${path}: ${await response.text()}. FLEET_NOTE_TOKEN must be a project ` +
        "access token with the scope api and the role Reporter (docs/guides/checks.md#pull-requests-of-repositories)",
    );
  return response;
}

/** The note that this token wrote before: others could write one with the same first line. */
async function written(author, marker, page = "1") {
  const response = await ask("GET", `${notes}?per_page=100&page=${page}`);
  const found = (await response.json()).find((note) => note.author.id === author && note.body.startsWith(marker));
  const next = response.headers.get("x-next-page");
  return found ?? (next ? written(author, marker, next) : undefined);
}

async function write(body) {
  const { id: author } = await (await ask("GET", "user")).json();
  const note = await written(author, body.split("\n")[0]);
  if (note === undefined) await ask("POST", notes, { body });
  else await ask("PUT", `${notes}/${note.id}`, { body });
}

const [file] = process.argv.slice(2);
if (existsSync(file)) await write(readFileSync(file, "utf8"));
else console.log("There is no comment: the job diff says why.");
