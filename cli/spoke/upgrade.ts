import { resolve } from "node:path";
import { compatibilityWarning, supportWarning } from "../../components/versions.ts";
import { compareVersions } from "../../functions/spoke/versions.ts";
import { withMachinery } from "../../lib/machinery.ts";
import { withDefaults } from "../../lib/openapi.ts";
import type { Problem } from "../../lib/problems.ts";
import { carryOut } from "../change/carry-out.ts";
import { findingsOf, type Programs, programs } from "../change/effect.ts";
import { changesTo, type Proposal } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { validate } from "../check/cel/validations.ts";
import { textOf } from "../folder.ts";
import { readLine } from "../line.ts";
import { refuse, together } from "../usage.ts";
import { findSpoke, makerProblems, type SpokeFile } from "./file.ts";
import { type Offer, readOffer, schemaProblems, versionProblems } from "./rules.ts";

export const summary = "raise the Kubernetes version of a spoke by one minor, in gitops-system";

export const help = `Usage: fleet upgrade <spoke> [--to VERSION] [options]

Raises spec.kubernetesVersion in spokes/<fleet>/<spoke>/spoke.yaml of a checkout of gitops-system; comments and order stay. Says
what happens in which order, and what the repositories give the spoke in API versions that are deprecated or gone.

  --to VERSION           default: the next minor that the Composition offers; must be named where the environment's channel
                         holds the Composition back
  --fleet NAME           needed where several fleets have a spoke of this name
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Example:
  fleet upgrade green --to 1.36 --dry-run
`;

export const options = {
  ...changeOptions,
  to: { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

interface UpgradedSpec {
  readonly kubernetesVersion: string;
  readonly environment: string;
  readonly ring: string;
}

type UpgradedFile = SpokeFile<UpgradedSpec>;

/** What the Spoke API refuses of the change, as if the control plane ran the version that Git says. */
function changeProblems({ manifest, path }: UpgradedFile, to: string, { api }: Offer): Problem[] {
  const schema = withMachinery(api);
  const from = manifest.spec.kubernetesVersion as string;
  const stored = (kubernetesVersion: string) => ({
    ...(withDefaults(schema, { ...manifest, spec: { ...manifest.spec, kubernetesVersion } }) as object),
    status: { kubernetesVersion: from },
  });
  const { broken } = validate(schema, stored(to), stored(from));
  return broken
    .filter(({ isTransition }) => isTransition)
    .map(({ message }) => ({
      key: "--to",
      what: message,
      got: to,
      allowed: `one minor above ${from}, which ${path} says`,
      remedy: "upgrade by one minor now, and by the next one when all nodes run the new version",
    }));
}

/** The version that is meant: the one that is named, else the next that is offered. */
const targetOf = (from: string, to: string | undefined, { kubernetesVersions }: Offer): string =>
  to ?? kubernetesVersions.find((version) => compareVersions(version, from) > 0) ?? from;

function versionsProblems(file: UpgradedFile, to: string | undefined, offer: Offer): Problem[] {
  const { kubernetesVersion: from, environment = "" } = file.spec;
  const malformed = schemaProblems(offer.schema, { kubernetesVersion: from }, { kubernetesVersion: file.path });
  if (from === undefined || malformed.length > 0)
    return malformed.length > 0
      ? malformed
      : [
          {
            key: file.path,
            what: "has no spec.kubernetesVersion",
            got: "(nothing)",
            allowed: offer.kubernetesVersions.join(", "),
            remedy: "write the version that the cluster runs",
          },
        ];
  const offered = versionProblems(to, environment, offer, "--to");
  const wanted = targetOf(from, to, offer);
  const isVersion = /^1\.\d+$/.test(wanted);
  // Of a version that does not exist only that is said.
  return offered.length > 0 && !isVersion ? offered : together(offered, changeProblems(file, wanted, offer));
}

export interface Upgrade {
  readonly file: UpgradedFile;
  readonly from: string;
  readonly to: string;
  readonly offered: readonly string[];
  readonly proposal: Proposal;
}

/**
 * What raises the version of a spoke.
 * @param told problems of the command line
 * @throws UsageError that lists every problem
 */
export async function upgraded(
  checkout: string,
  {
    spoke,
    fleet,
    to,
  }: { readonly spoke: string; readonly fleet?: string | undefined; readonly to?: string | undefined },
  told: readonly Problem[] = [],
): Promise<Upgrade> {
  const { file, problems } = findSpoke<UpgradedSpec>(checkout, spoke, fleet);
  if (problems.some(({ key }) => key === "--repository")) refuse("upgrade", together(told, problems));
  const offer = await readOffer(checkout);
  const named = to === undefined ? [] : versionProblems(to, "", offer, "--to");
  if (file === undefined) refuse("upgrade", together(told, [...problems, ...named]));
  const opened = file as UpgradedFile;
  refuse("upgrade", makerProblems(opened, "raise the version of the chart (docs/guides/cluster-api.md)"));
  refuse("upgrade", together(told, versionsProblems(opened, to, offer)));
  const from = opened.spec.kubernetesVersion as string;
  const wanted = targetOf(from, to, offer);
  // As a text between quotation marks, as the template writes it; 1.40 would be read as 1.4.
  opened.document.setIn(["spec", "kubernetesVersion"], wanted);
  return {
    ...{ file: opened, from, to: wanted, offered: offer.kubernetesVersions },
    proposal: {
      repository: "gitops-system",
      checkout,
      files: changesTo(checkout, { [opened.path]: textOf(opened.documents) }),
      subject: `Upgrade spoke ${spoke} to Kubernetes ${wanted}`,
      body: `From ${from}: first the control plane, then the EKS add-ons, then the nodes.`,
    },
  };
}

/** What the repositories give the spoke in old API versions, in words. */
async function oldVersions(proposal: Proposal, spoke: string, using: Programs): Promise<string> {
  const found = await findingsOf([proposal], "api-version", spoke, using);
  if ("unknown" in found) return `API versions in use on ${spoke} were not looked at: ${found.unknown}.`;
  const { lines } = found;
  return lines.length === 0
    ? `The repositories give ${spoke} nothing in an API version that is deprecated or gone.`
    : `In use on ${spoke}, and deprecated or gone; correct these first:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

function steps({ file: { spoke, spec }, from, to, offered }: Upgrade): string {
  const notes = [supportWarning(to, new Date()), compatibilityWarning(to)].filter((note) => note !== undefined);
  const lines = [
    `${spoke}: Kubernetes ${from} -> ${to}; the Composition offers ${offered.join(", ")}. In this order, each when the one before is done:`,
    `  1. the control plane; ${from} does not come back, and the hub refuses the change while ${from} does not run yet`,
    `  2. the EKS add-ons, in the versions that the Composition has for ${to}`,
    `  3. the nodes, one after another, with what PodDisruptionBudgets allow`,
    ...(spec.ring === undefined
      ? []
      : [
          `Note: it takes the Composition of the ring ${spec.ring}, whose branch may offer other versions than this checkout`,
        ]),
    ...notes.map((note) => `Note: ${note}`),
  ];
  return lines.join("\n");
}

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, problems } = readLine("upgrade", argv, options, { arguments: ["spoke"] });
  const { spoke } = args;
  const checkout = resolve(values.repository ?? ".");
  const told = together(problems, wishProblems(values, [checkout]));
  const upgrade = await upgraded(checkout, { spoke, fleet: values.fleet, to: values.to }, told);
  const { from, to, offered, proposal, file } = upgrade;
  if (from === to) {
    console.log(`Nothing to change: ${spoke} has Kubernetes ${from}; the Composition offers ${offered.join(", ")}`);
    return 0;
  }
  console.log(`${steps(upgrade)}\n${await oldVersions(proposal, spoke, using)}`);
  const next = `kubectl -n spokes get spoke ${spoke} --watch --output wide     how far it is, and what is in its way`;
  await carryOut("upgrade", [proposal], values, { fleet: file.fleet, next, programs: using });
  return 0;
}
