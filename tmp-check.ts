import { check } from "./cli/check/check.ts";
import { buildText } from "./test/repos/support/kustomize.ts";
const r = check({ repos: "repos", build: buildText });
for (const f of r.findings) console.log(f.rule, f.place.file, f.place.line, f.problem, "|", f.clusters.join(","));
console.log(r.findings.length, (r as any).notes);
