import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet check", {
  "--format jsn --crds {nowhere}": [
    "--format: has an unknown value | jsn | text, json, github | did you mean json? If not, choose one",
    "--crds: names a path that does not exist | {nowhere} | a folder or a file with definitions | correct it; fleet check --help says how to get them",
  ],
  "--crds {nowhere} --crds {nowhere}/2": [
    "--crds: names a path that does not exist | {nowhere} | a folder or a file with definitions | correct it; fleet check --help says how to get them",
    "--crds: names a path that does not exist | {nowhere}/2 | a folder or a file with definitions | correct it; fleet check --help says how to get them",
  ],
  "--repos {nowhere}":
    "--repos: names a folder that does not exist | {nowhere} | a folder with the checkouts of the repositories | correct the path",
  "--repos {file}":
    "--repos: is not a folder | {file} | a folder with the checkouts of the repositories | correct the path",
});
