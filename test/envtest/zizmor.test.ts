import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensurePythonProgram } from "@eks-gitops-fleet/local/toolchain";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { filledIn, repositoryNames, workflowFile } from "../workflows/repositories.ts";

/** The workflows and actions under zizmor, which PyPI has and zizmor/requirements.txt pins. The local stack does not need it. */

const github = join(import.meta.dirname, "..", "..", ".github");

let program: string;
let dir: string;
beforeAll(async () => {
  program = await ensurePythonProgram("zizmor", join(import.meta.dirname, "zizmor", "requirements.txt"));
});
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "zizmor-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

/** Findings as `rule in file`. Offline, and without the caller's environment, in which a token would put zizmor online. */
function findings(): string[] {
  const flags = ["--offline", "--no-progress", "--format", "json-v1", "--config", join(github, "zizmor.yml")];
  const { status, stdout, stderr } = spawnSync(program, [...flags, "."], { cwd: dir, encoding: "utf8", env: {} });
  // 0: nothing was found; 11 to 14: the highest severity of the findings (docs.zizmor.sh/usage/#exit-codes).
  if (status !== 0 && (status === null || status < 11 || status > 14))
    throw new Error(`zizmor ended with ${status}: ${stderr}`);
  interface Finding {
    readonly ident: string;
    readonly locations: readonly {
      readonly symbolic: { readonly key: { readonly Local: { readonly verbatim_path: string } } };
    }[];
  }
  return (JSON.parse(stdout) as Finding[]).map(
    ({ ident, locations: [first] }) => `${ident} in ${first?.symbolic.key.Local.verbatim_path}`,
  );
}

test("zizmor finds nothing in the workflows and actions", () => {
  cpSync(github, join(dir, ".github"), { recursive: true });
  expect(findings()).toEqual([]);
});

test.for(repositoryNames)("zizmor finds nothing in the workflow that fleet init writes into %s", (name) => {
  write(workflowFile, filledIn(name, "github.com")[workflowFile] ?? "");
  expect(findings()).toEqual([]);
});

const workflow = (event: string, step: string) =>
  `on: ${event}\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - ${step}\n`;
const appToken = "actions/create-github-app-token@bcd2ba49218906704ab6c1aa796996da409d3eb1 # v3.2.0";
const hostile = {
  "template-injection": workflow("push", "run: echo $" + "{{ github.event.head_commit.message }}"),
  "github-app": workflow("push", `uses: ${appToken}\n        with: { app-id: 1, private-key: "$\{{ secrets.KEY }}" }`),
  "github-env": workflow("pull_request_target", 'run: echo "A=$B" >> "$GITHUB_ENV"'),
};
test.for(Object.entries(hostile))("zizmor finds %s", ([rule, text]) => {
  write(workflowFile, text);
  expect(findings()).toContain(`${rule} in ./${workflowFile}`);
});
