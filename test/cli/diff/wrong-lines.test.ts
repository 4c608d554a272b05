import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet diff a b", {
  "--format html": "--format: has an unknown value | html | text, markdown, json | choose one",
  "--bridge {nowhere}":
    "--bridge: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
  "--bridge {folder}": "--bridge: names a folder | {folder} | a file that you may read | correct the path",
  "--observed {nowhere}":
    "--observed: names a folder that does not exist | {nowhere} | a folder with <spoke>.yaml for each recorded spoke | correct the path",
  "--charts {file}":
    "--charts: is not a folder | {file} | a folder with charts as <name>-<version>.tgz | correct the path",
  "--repos {nowhere}":
    "--repos: names a folder that does not exist | {nowhere} | a folder with the checkouts of the other repositories | correct the path",
  "--preview prod={nowhere} --preview dev": [
    "--preview: names a file that does not exist: {nowhere} | prod={nowhere} | STACK=FILE | pulumi preview --json --non-interactive --stack prod > {nowhere}",
    "--preview: has another form | dev | STACK=FILE | write the stack, = and the file",
  ],
});
