import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet rollouts", {
  "--dry-run":
    "--dry-run: needs --promote | no --promote | --promote --dry-run | add --promote, or leave it out to look only",
  "--every 1m":
    "--every: needs --promote | no --promote | --promote --every | add --promote, or leave it out to look only",
  "--promote --dry-run --every 1m":
    "--dry-run and --every: exclude each other | both | one of them | leave out --every to rehearse one step",
  "--promote --every soon":
    "--every: is not a duration | soon | hours, minutes and seconds such as 30s or 1m | change it",
});
