import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet upgrade-platform", {
  "--dry-run":
    "--repository: is neither gitops-system (no folder platform/api) nor gitops-workloads (no folder templates/app) | {cwd} | a clone of gitops-system or gitops-workloads; default: the current folder | name the clone with --repository DIR",
  "--repository {folder}":
    "--repository: is neither gitops-system (no folder platform/api) nor gitops-workloads (no folder templates/app) | {folder} | a clone of gitops-system or gitops-workloads; default: the current folder | name the clone with --repository DIR",
  "--repository {file}":
    "--repository: is not a folder | {file} | a clone of gitops-system or gitops-workloads; default: the current folder | correct the path",
  "--repository {nowhere}":
    "--repository: names a folder that does not exist | {nowhere} | a clone of gitops-system or gitops-workloads; default: the current folder | correct the path",
});
