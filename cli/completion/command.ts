import { descriptions } from "../descriptions.ts";
import { readLine } from "../line.ts";
import { choiceProblems, refuse } from "../usage.ts";
import { bash, fish, type Words, zsh } from "./scripts.ts";

export const summary = "print a shell completion script";

export const help = `Usage: fleet completion <shell>

Prints a script that completes commands, options and those values that fleet knows by itself, for bash, fish or zsh. It asks
neither AWS nor a cluster. What an option names otherwise is completed as a file.

  <shell>                bash, fish or zsh

The line for your shell works in the current one; put it into ~/.bashrc, ~/.config/fish/config.fish or ~/.zshrc (below
autoload -U compinit && compinit) for new shells.

Examples:
  eval "$(fleet completion bash)"
  fleet completion fish | source
  . <(fleet completion zsh)
`;

export const options = { help: { type: "boolean", short: "h" } } as const;

const scripts: Readonly<Record<string, (words: Words) => string>> = { bash, fish, zsh };

export const choices = { "<shell>": Object.keys(scripts) };

/** What may be the first word after `fleet`. */
const words: Words = {
  ...descriptions,
  help: { summary: "say more about a command", options: {}, choices: { "<command>": Object.keys(descriptions) } },
};

export async function run(argv: readonly string[]): Promise<number> {
  const { args, problems } = readLine("completion", argv, options, { arguments: ["shell"] });
  const { shell } = args;
  refuse("completion", [
    ...problems,
    ...(shell === "" ? [] : choiceProblems("<shell>", shell, choices["<shell>"], "choose one")),
  ]);
  process.stdout.write(scripts[shell]?.(words) ?? "");
  return 0;
}
