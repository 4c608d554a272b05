import { resolve } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { rolesOf } from "../fleet/principals.ts";
import { newRegionOption } from "../fleet/region.ts";
import { readLine } from "../line.ts";
import { promptOptions } from "../prompt/terminal.ts";
import { together } from "../usage.ts";
import type { InitRequest } from "./request.ts";

/** The command line of `fleet init`. */

export const options = {
  stack: { type: "string", default: "" },
  fleet: { type: "string", default: "" },
  environment: { type: "string", default: "" },
  "spoke-environment": { type: "string", multiple: true },
  account: { type: "string", default: "" },
  region: { type: "string", default: "" },
  ...newRegionOption,
  "system-url": { type: "string", default: "" },
  "workloads-url": { type: "string", default: "" },
  "sample-app-url": { type: "string" },
  "known-hosts": { type: "string" },
  "public-access-cidr": { type: "string", multiple: true },
  "private-access-cidr": { type: "string", multiple: true },
  admin: { type: "string", multiple: true },
  viewer: { type: "string", multiple: true },
  "vpc-cidr": { type: "string" },
  "vpc-id": { type: "string" },
  "private-subnet-id": { type: "string", multiple: true },
  "egress-cidr": { type: "string", multiple: true },
  "function-package": { type: "string" },
  "project-url": { type: "string" },
  owner: { type: "string", multiple: true },
  boundary: { type: "string" },
  "role-path": { type: "string" },
  "git-authentication": { type: "string" },
  "github-app-id": { type: "string" },
  "github-app-installation-id": { type: "string" },
  "github-app-base-url": { type: "string" },
  "ca-file": { type: "string" },
  example: { type: "string", default: "dev" },
  ...promptOptions,
  help: { type: "boolean", short: "h" },
} as const;

export function lineOf(argv: readonly string[]) {
  const line = readLine("init", argv, options, { arguments: ["folder"], files: ["ca-file", "known-hosts"] });
  return { ...line, values: { ...line.values, "dry-run": false } };
}

export type Line = ReturnType<typeof lineOf>;

/** The request, with the roles of sessions among the principals, and the problems of the command line and of those sessions. */
export async function requestOf({ values, args, texts, problems }: Line): Promise<{
  readonly request: InitRequest;
  readonly told: Problem[];
}> {
  const admins = await rolesOf("--admin", values.admin ?? []);
  const viewers = await rolesOf("--viewer", values.viewer ?? []);
  const request: InitRequest = {
    folder: args.folder && resolve(args.folder),
    stack: values.stack,
    fleet: values.fleet,
    environment: values.environment,
    spokeEnvironments: values["spoke-environment"] ?? [values.environment],
    account: values.account,
    region: values.region,
    newRegion: values["new-region"],
    systemUrl: values["system-url"],
    workloadsUrl: values["workloads-url"],
    sampleAppUrl: values["sample-app-url"],
    gitAuthentication: values["git-authentication"],
    githubAppId: values["github-app-id"],
    githubAppInstallationId: values["github-app-installation-id"],
    githubAppBaseUrl: values["github-app-base-url"],
    caCertificate: texts["ca-file"],
    knownHosts: texts["known-hosts"],
    publicAccessCidrs: values["public-access-cidr"] ?? [],
    privateAccessCidrs: values["private-access-cidr"] ?? [],
    admins: admins.arns,
    viewers: viewers.arns,
    vpcCidr: values["vpc-cidr"],
    vpcId: values["vpc-id"],
    privateSubnetIds: values["private-subnet-id"] ?? [],
    egressCidrs: values["egress-cidr"] ?? [],
    functionPackage: values["function-package"],
    projectUrl: values["project-url"],
    owners: values.owner,
    boundary: values.boundary,
    rolePath: values["role-path"],
    example: values.example,
  };
  return { request, told: together(problems, [...admins.problems, ...viewers.problems]) };
}
