import { resolve } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import type { ReceiverType } from "../../lib/receivers.ts";
import type { Sealing } from "../../lib/spoke.ts";
import { changeOptions, wishProblems } from "../change/options.ts";
import { certificateProblems, sourceOptions } from "../fleet/facts.ts";
import { rolesOf } from "../fleet/principals.ts";
import { readLine } from "../line.ts";
import { promptOptions } from "../prompt/terminal.ts";
import { together } from "../usage.ts";
import type { SpokeRequest } from "./folder.ts";
import type { DeployKeys } from "./secrets.ts";

/** The command line of `fleet new-cluster`. */

export const options = {
  ...sourceOptions,
  ...changeOptions,
  ...promptOptions,
  environment: { type: "string" },
  tenant: { type: "string" },
  region: { type: "string" },
  "kubernetes-version": { type: "string" },
  cidr: { type: "string" },
  nodes: { type: "string" },
  "nodes-min": { type: "string" },
  "nodes-max": { type: "string" },
  admin: { type: "string", multiple: true },
  "public-access-cidr": { type: "string", multiple: true },
  ring: { type: "string" },
  sealing: { type: "string" },
  "deploy-keys": { type: "string" },
  "known-hosts": { type: "string" },
  "git-receiver": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** What a command line says, and what is wrong with it by itself. */
export function lineOf(argv: readonly string[]) {
  const { problems, ...line } = readLine("new-cluster", argv, options, {
    arguments: ["name"],
    required: { environment: "an environment, such as dev", tenant: "the team that owns the cluster" },
    files: ["certificate", "known-hosts"],
  });
  const checkout = resolve(line.values.repository ?? ".");
  const told: readonly Problem[] = together(problems, [
    ...wishProblems(line.values, [checkout]),
    ...certificateProblems(line.texts.certificate),
  ]);
  return { ...line, checkout, told };
}

export type Line = ReturnType<typeof lineOf>;

/** The request, with the roles of sessions among the administrators, and the problems of those that IAM doesn't resolve. */
export async function requestOf(line: Line): Promise<{ readonly request: SpokeRequest; readonly told: Problem[] }> {
  const { arns, problems } = await rolesOf("--admin", line.values.admin ?? []);
  return { request: { ...written(line), admins: arns }, told: together(line.told, problems) };
}

const written = ({ values, args, texts }: Line): SpokeRequest => ({
  name: args.name,
  environment: values.environment,
  tenant: values.tenant,
  region: values.region,
  kubernetesVersion: values["kubernetes-version"],
  cidr: values.cidr,
  nodes: values.nodes,
  nodesMin: values["nodes-min"],
  nodesMax: values["nodes-max"],
  publicAccessCidrs: values["public-access-cidr"],
  ring: values.ring,
  // They are compared with the allowed values before anything else uses them.
  sealing: values.sealing as Sealing | undefined,
  gitReceiver: values["git-receiver"] as ReceiverType | undefined,
  deployKeys: values["deploy-keys"] as DeployKeys | undefined,
  knownHosts: texts["known-hosts"],
});
