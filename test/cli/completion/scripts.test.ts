import { expect, test } from "vitest";
import { fish, type Words, zsh } from "../../../cli/completion/scripts.ts";
import { rejectsLines } from "../support/wrong-lines.ts";

/** What bash makes of its script, and the others where they are installed, is tested by shells.integration.test.ts. */

const words: Words = {
  list: {
    summary: "show the fleet's spokes: all of them",
    options: {
      output: { type: "string", short: "o" },
      tenant: { type: "string", multiple: true },
      watch: { type: "boolean" },
    },
    choices: { output: ["text", "json"] },
  },
  completion: { summary: "print a script", options: {}, choices: { "<shell>": ["bash", "fish"] } },
};

test("zsh gets commands with what they do, options with their values, and files where no values are known", () => {
  const script = zsh(words);
  expect(script).toMatch(/^#compdef fleet\n/);
  expect(script).toContain(String.raw`'list:show the fleet'\''s spokes\: all of them'`);
  expect(script).toContain(
    "list) _arguments '(-o --output)-o+:output:(text json)' '(-o --output)--output=:output:(text json)' '*--tenant=:tenant:_files' '--watch' '*:file:_files' ;;",
  );
  expect(script).toContain("completion) _arguments '1:argument:(bash fish)' ;;");
});

test("fish gets the same", () => {
  expect(fish(words).split("\n").slice(1, -1)).toEqual([
    String.raw`complete -c fleet -n __fish_use_subcommand -f -a list -d 'show the fleet'\''s spokes: all of them'`,
    "complete -c fleet -n '__fish_seen_subcommand_from list' -l output -s o -x -a 'text json'",
    "complete -c fleet -n '__fish_seen_subcommand_from list' -l tenant -r",
    "complete -c fleet -n '__fish_seen_subcommand_from list' -l watch",
    "complete -c fleet -n __fish_use_subcommand -f -a completion -d 'print a script'",
    "complete -c fleet -n '__fish_seen_subcommand_from completion' -f -a 'bash fish'",
  ]);
});

rejectsLines("fleet completion", {
  basch: "<shell>: has an unknown value | basch | bash, fish, zsh | did you mean bash? If not, choose one",
});
