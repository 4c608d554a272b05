import { commands, type Description } from "../../cli/commands.ts";

const described = await Promise.all(
  Object.entries(commands).map(async ([name, load]): Promise<[string, Description]> => {
    const { summary, help, options, choices } = await load();
    return [name, { summary, help, options, ...(choices && { choices }) }];
  }),
);

/** cli/descriptions.json: what `fleet` knows of each command before it loads it. */
export const cliDescriptions = (): object => Object.fromEntries(described);

const page = described.map(
  ([name, { summary, help }]) => `## fleet ${name}

${summary[0]?.toUpperCase()}${summary.slice(1)}.

\`\`\`text
${help.trimEnd()}
\`\`\`
`,
);

/** docs/reference/cli.md: what every command of `fleet` prints as its help. */
export const cliReference = (): string => `<!-- From the commands' own help (cli/): npm run generate. -->
# The \`fleet\` commands

In this project's folder run them as \`npx fleet\`, and as \`npx --prefix <this folder> fleet\` elsewhere; [Install fleet](../guides/repositories.md#install-fleet)
says how to get them without a checkout, and how a shell completes them. Exit code 0: done; 1: it failed, or a comparison or check has
something to say; 2: it was called wrongly or could not run, and nothing was changed; 130: Ctrl-C was typed at a question, and nothing
was changed.

${page.join("\n")}`;
