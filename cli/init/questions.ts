import { readProject } from "../fleet/stack-config.ts";
import { askedAt, type Question, type Questionnaire } from "../prompt/ask.ts";
import type { Terminal } from "../prompt/terminal.ts";
import { together } from "../usage.ts";
import { type Line, lineOf, requestOf } from "./line.ts";
import { problemsOf } from "./problems.ts";

/** What `fleet init` prompts for on a terminal: who else gets access to the hub. */

const principals = (key: string, text: string): Question => ({ key, text, several: true, optional: true });

const questionnaire = (root: string): Questionnaire<Line> => ({
  command: "init",
  read: lineOf,
  judge: async (line) => {
    const { request, told } = await requestOf(line);
    return together(told, await problemsOf(root, request, await readProject(root)));
  },
  isAnswerable: () => false,
  questions: [
    ({ values }) =>
      values.admin === undefined
        ? principals(
            "--admin",
            "ARNs of IAM roles or users that administer the hub, in addition to the one that creates it",
          )
        : undefined,
    ({ values }) =>
      values.viewer === undefined
        ? principals(
            "--viewer",
            "ARNs of IAM roles or users that read everything in the hub, such as the role of previews",
          )
        : undefined,
  ],
});

/** The command line with the answers that a user gives at the terminal. @throws Interrupted */
export const asked = (root: string, argv: readonly string[], terminal: Terminal): Promise<readonly string[]> =>
  askedAt(terminal, argv, questionnaire(root));
