import { commands } from "../../cli/commands.ts";

const page = Object.entries(commands).map(
  ([name, { summary, help }]) => `## fleet ${name}

${summary[0]?.toUpperCase()}${summary.slice(1)}.

\`\`\`text
${help.trimEnd()}
\`\`\`
`,
);

/** docs/reference/cli.md: what every command of `npx fleet` prints as its help. */
export const cliReference = (): string => `<!-- From the commands' own help (cli/): npm run generate. -->
# The \`fleet\` commands

Run \`npx fleet\` in this project's folder, or \`npx --prefix <this folder> fleet\` elsewhere. Exit code 0: done; 1: it failed, or a
comparison or check has something to say; 2: it was called wrongly or could not run, and nothing was changed; 130: Ctrl-C was typed at
a question, and nothing was changed.

${page.join("\n")}`;
