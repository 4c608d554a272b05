import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { kubernetesReleases } from "../components/versions.ts";
import { clusterInfo, clusterSecretPolicy, contractPage, contractSchema } from "../lib/bridge-documents.ts";
import { filled } from "../lib/generated-part.ts";
import { adoptPolicy } from "../lib/iam/adopt.ts";
import { adoptHubPolicy } from "../lib/iam/adopt-hub.ts";
import { awsProofPolicy } from "../lib/iam/aws-proof.ts";
import { doctorPolicy } from "../lib/iam/doctor.ts";
import { nodeReleasesPolicy } from "../lib/iam/node-releases.ts";
import { sweepPolicy } from "../lib/iam/sweep.ts";
import { kyvernoSet } from "../lib/kyverno.ts";
import { cliDescriptions, cliReference } from "./documents/cli.ts";
import { componentPages } from "./documents/components.ts";
import { configurationReference } from "./documents/configuration.ts";
import { decisionIndex } from "./documents/decisions.ts";
import { compactJson } from "./documents/json.ts";
import { benchmarkPlots } from "./documents/plots.ts";

/**
 * `npm run generate`: writes everything in the repository that is made from code. First the files below, then what tests make of
 * the whole project and compare with a file (`toMatchFileSnapshot`).
 */

const root = join(import.meta.dirname, "..");
const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;

/** The admission policies of the platform as Kyverno's. */
function kyverno(): string {
  const folder = join(root, "repos/gitops-system/platform/policies");
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  const { resources } = parse(read("kustomization.yaml")) as { resources: readonly string[] };
  const objects = resources.flatMap((file) => parseAllDocuments(read(file)).map((document) => document.toJS()));
  const texts = kyvernoSet(objects).map((policy) => stringify(policy, { lineWidth: 120 }));
  return `# Generated from platform/policies by lib/kyverno.ts: npm run generate.
# The same rules, judged by Kyverno.
${texts.join("---\n")}`;
}

/** The supported Kubernetes versions with the end of their standard support. */
const kubernetesTable = (current: string): string =>
  filled(current, "kubernetes", [
    "",
    "| Kubernetes | Last day of standard support |",
    "| --- | --- |",
    ...kubernetesReleases.map(({ minor, supportEnds }) => `| ${minor} | ${supportEnds} |`),
    "",
  ]);

/** The plots of the benchmarks, from the figures that are on record. */
const plots = Object.fromEntries(
  Object.entries(benchmarkPlots).map(([name, plot]) => [
    `docs/reference/plots/${name}`,
    () => plot(readFileSync(join(root, "docs/reference/benchmarks.md"), "utf8")),
  ]),
);

/** Generated files by path, in the order in which they are written: the new text, given the present one. */
export const generated: Readonly<Record<string, (current: string) => string>> = {
  "cli/descriptions.json": () => json(cliDescriptions()),
  "docs/decisions/README.md": (current) => decisionIndex(join(root, "docs/decisions"), current),
  ...componentPages(root),
  ...plots,
  "docs/guides/clusters.md": kubernetesTable,
  "docs/reference/cli.md": cliReference,
  "docs/reference/configuration.md": (current) => configurationReference(join(root, "Pulumi.yaml"), current),
  "docs/reference/contract.md": contractPage,
  "docs/reference/contract.schema.json": () => compactJson(contractSchema()),
  "docs/reference/deployer-policy/aws-proof.json": () => compactJson(awsProofPolicy()),
  "docs/reference/deployer-policy/fleet-adopt.json": () => compactJson(adoptPolicy()),
  "docs/reference/deployer-policy/fleet-adopt-hub.json": () => compactJson(adoptHubPolicy()),
  "docs/reference/deployer-policy/fleet-sweep.json": () => compactJson(sweepPolicy()),
  "docs/reference/deployer-policy/fleet-doctor.json": () => compactJson(doctorPolicy()),
  "docs/reference/deployer-policy/fleet-node-releases.json": () => compactJson(nodeReleasesPolicy("aws")),
  "repos/gitops-system/platform/policies/cluster-secret.yaml": clusterSecretPolicy,
  "repos/gitops-system/platform/kyverno/policies/policies.yaml": kyverno,
  "repos/gitops-system/spoke-bootstrap/sync/cluster-info.yaml": clusterInfo,
};

function generate(): void {
  for (const [path, make] of Object.entries(generated)) {
    const file = join(root, path);
    const current = existsSync(file) ? readFileSync(file, "utf8") : "";
    const text = make(current);
    if (text === current) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${path}`);
  }
  const tests = globSync(["test/**/*.test.ts", "local/test/unit/**/*.test.ts"], { cwd: root }).filter((test) =>
    /\.toMatchFileSnapshot\(|expectGolden\(/.test(readFileSync(join(root, test), "utf8")),
  );
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const update = [vitest, "run", "--project", "unit", ...tests, "--update"];
  process.exitCode = spawnSync(process.execPath, update, { cwd: root, stdio: "inherit" }).status ?? 1;
}

if (import.meta.main) generate();
