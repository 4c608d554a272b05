import { changeHelp } from "../../cli/change/options.ts";
import { commands, type Description } from "../../cli/commands.ts";

const described = await Promise.all(
  Object.entries(commands).map(async ([name, load]): Promise<[string, Description]> => {
    const { summary, help, options, choices } = await load();
    return [name, { summary, help, options, ...(choices && { choices }) }];
  }),
);

/** cli/descriptions.json: what `fleet` knows of each command before it loads it. */
export const cliDescriptions = (): object => Object.fromEntries(described);

const shared = `${changeHelp}\n`;

const page = described.map(
  ([name, { help }]) => `## fleet ${name}
\`\`\`text
${help.trimEnd().replace(shared, "  --dry-run, --commit, --push    see above\n")}
\`\`\`
`,
);

/** docs/reference/cli.md: what every command of `fleet` prints as its help, with the options of many commands once. */
export const cliReference = (): string => `<!-- From the commands' own help (cli/): npm run generate. -->
# The \`fleet\` commands

In this project's directory, run \`npx fleet\`; from another directory \`npx --prefix <this directory> fleet\`. [Install fleet](../guides/repositories.md#install-fleet)
describes the installation without a clone, and shell completion. Exit codes: 0 done; 1 failed, or a comparison or check has findings; 2 usage
error, or it couldn't run, no changes made; 130 Ctrl-C at a prompt, no changes made. Commands that change a clone have these options:

\`\`\`text
${changeHelp}
\`\`\`

${page.join("\n")}`;
