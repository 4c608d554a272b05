import type { Description } from "../commands.ts";

/** The scripts by which shells complete the words after `fleet`. Each is told everything, and calls no program when it completes. */

/** What may be the first word after `fleet`, and what may follow it. */
export type Words = Readonly<Record<string, Pick<Description, "summary" | "options" | "choices">>>;

interface Option {
  readonly name: string;
  /** As it may be written: `-o`, `--output`. */
  readonly flags: readonly string[];
  readonly takesValue: boolean;
  readonly isRepeated: boolean;
  /** What its value may be, where that is known. */
  readonly values: readonly string[] | undefined;
}

const optionsOf = ({ options, choices }: Words[string]): Option[] =>
  Object.entries(options).map(([name, { type, short, multiple }]) => ({
    name,
    flags: [...(short === undefined ? [] : [`-${short}`]), `--${name}`],
    takesValue: type === "string",
    isRepeated: multiple === true,
    values: choices?.[name],
  }));

/** What an argument of a command may be. */
const argumentsOf = ({ choices = {} }: Words[string]): readonly string[] =>
  Object.entries(choices).flatMap(([name, values]) => (name.startsWith("<") ? values : []));

/** A text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const list = (words: readonly string[]): string => quoted(words.join(" "));

function bashCase(name: string, word: Words[string]): string[] {
  const options = optionsOf(word).filter(({ takesValue }) => takesValue);
  const known = options.map(({ flags, values }) => ({ pattern: flags.join(" | "), values }));
  const files = known.filter(({ values }) => values === undefined);
  return [
    `    ${name})`,
    `      options=${list(optionsOf(word).flatMap(({ flags }) => flags))}`,
    `      values=${list(argumentsOf(word))}`,
    ...(known.length === 0 ? [] : ["      case $before in"]),
    ...known.flatMap(({ pattern, values }) => (values ? [`        ${pattern}) values=${list(values)} ;;`] : [])),
    ...(files.length === 0 ? [] : [`        ${files.map(({ pattern }) => pattern).join(" | ")}) return ;;`]),
    ...(known.length === 0 ? [] : ["      esac"]),
    "      ;;",
  ];
}

/** Also for the bash 3.2 of macOS. Without a word of ours bash takes names of files (`-o default`). */
export const bash = (words: Words): string => `# Completion of fleet: eval "$(fleet completion bash)"
_fleet() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} options='' values=''
  COMPREPLY=()
  # --option=value is three words to bash.
  if [ "$word" = = ]; then word=''; elif [ "$before" = = ]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W ${list([...Object.keys(words), "--help", "--version"])} -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${Object.entries(words)
  .flatMap(([name, word]) => bashCase(name, word))
  .join("\n")}
  esac
  case $word in -*) values=$options ;; esac
  COMPREPLY=($(compgen -W "$values" -- "$word"))
}
complete -o default -F _fleet fleet
`;

/** Specifications for zsh's _arguments. */
function zshOption({ name, flags, takesValue, isRepeated, values }: Option): string[] {
  const excluded = isRepeated ? "*" : flags.length > 1 ? `(${flags.join(" ")})` : "";
  const value = values === undefined ? "_files" : `(${values.join(" ")})`;
  const written = (flag: string) => (flag.startsWith("--") ? `${flag}=` : `${flag}+`);
  return flags.map((flag) => quoted(`${excluded}${takesValue ? `${written(flag)}:${name}:${value}` : flag}`));
}

function zshCase(name: string, word: Words[string]): string {
  const values = argumentsOf(word);
  const rest = values.length === 0 ? "*:file:_files" : `1:argument:(${values.join(" ")})`;
  return `    ${name}) _arguments ${[...optionsOf(word).flatMap(zshOption), quoted(rest)].join(" ")} ;;`;
}

/** To be sourced, or as the file _fleet in a folder of fpath. */
export const zsh = (words: Words): string => `#compdef fleet
# Completion of fleet: . <(fleet completion zsh)
_fleet() {
  local -a commands=(
${Object.entries(words)
  .map(([name, { summary }]) => `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`)
  .join("\n")}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${Object.entries(words)
  .map(([name, word]) => zshCase(name, word))
  .join("\n")}
  esac
}
if [ "\${funcstack[1]}" = _fleet ]; then _fleet "$@"; else compdef _fleet fleet; fi
`;

function fishLines(name: string, word: Words[string]): string[] {
  const after = `complete -c fleet -n '__fish_seen_subcommand_from ${name}'`;
  const values = argumentsOf(word);
  return [
    `complete -c fleet -n __fish_use_subcommand -f -a ${name} -d ${quoted(word.summary)}`,
    ...(values.length === 0 ? [] : [`${after} -f -a ${list(values)}`]),
    ...optionsOf(word).map(({ name: option, flags, takesValue, values }) => {
      const short = flags.length > 1 ? ` -s ${flags[0]?.slice(1)}` : "";
      const value = values === undefined ? " -r" : ` -x -a ${list(values)}`;
      return `${after} -l ${option}${short}${takesValue ? value : ""}`;
    }),
  ];
}

export const fish = (words: Words): string => `# Completion of fleet: fleet completion fish | source
${Object.entries(words)
  .flatMap(([name, word]) => fishLines(name, word))
  .join("\n")}
`;
