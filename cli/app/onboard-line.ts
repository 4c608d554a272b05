import { resolve } from "node:path";
import type { CommitStatusType } from "../../lib/notifications.ts";
import type { Problem } from "../../lib/problems.ts";
import type { ReceiverType } from "../../lib/receivers.ts";
import type { Sealing } from "../../lib/spoke.ts";
import { changeOptions, wishProblems } from "../change/options.ts";
import { certificateProblems, sourceOptions } from "../fleet/facts.ts";
import { readLine } from "../line.ts";
import { promptOptions } from "../prompt/terminal.ts";
import { together } from "../usage.ts";
import { overlayOf } from "./ack.ts";
import { environmentProblems, spokeFacts } from "./clusters.ts";
import type { AppAccess } from "./credential.ts";
import type { AppRequest } from "./rules.ts";
import { systemBeside, systemProblems } from "./system.ts";

/** The command line of `fleet onboard`. */

export const options = {
  ...sourceOptions,
  ...changeOptions,
  ...promptOptions,
  cluster: { type: "string", multiple: true },
  environment: { type: "string" },
  system: { type: "string" },
  sealing: { type: "string" },
  tenant: { type: "string" },
  "repository-url": { type: "string" },
  revision: { type: "string", default: "main" },
  path: { type: "string" },
  "known-hosts": { type: "string" },
  "token-file": { type: "string" },
  username: { type: "string" },
  "github-app-id": { type: "string" },
  "github-app-installation-id": { type: "string" },
  "github-app-key-file": { type: "string" },
  "github-app-base-url": { type: "string" },
  "ca-file": { type: "string" },
  "git-receiver": { type: "string" },
  "commit-status": { type: "string" },
  "commit-status-token-file": { type: "string" },
  "commit-status-address": { type: "string" },
  "auto-update": { type: "string", multiple: true },
  "auto-update-range": { type: "string" },
  "auto-update-token-file": { type: "string" },
  "aws-kind": { type: "string", multiple: true },
  "aws-engine": { type: "string" },
  quota: { type: "string", multiple: true },
  help: { type: "boolean", short: "h" },
} as const;

const read = (argv: readonly string[]) =>
  readLine("onboard", argv, options, {
    arguments: ["app"],
    required: {
      cluster: "the name of a spoke",
      tenant: "the team that owns the application",
      "repository-url": "ssh://… or https://…",
    },
    files: [
      ...["certificate", "known-hosts", "ca-file", "token-file", "github-app-key-file"],
      ...["commit-status-token-file", "auto-update-token-file"],
    ] as const,
  });

type Read = ReturnType<typeof read>;

const accessOf = ({ values, texts }: Read): AppAccess => ({
  knownHosts: texts["known-hosts"],
  caCertificate: texts["ca-file"],
  token: texts["token-file"],
  username: values.username,
  githubAppId: values["github-app-id"],
  githubAppInstallationId: values["github-app-installation-id"],
  githubAppKey: texts["github-app-key-file"],
  githubAppBaseUrl: values["github-app-base-url"],
  commitStatusToken: texts["commit-status-token-file"],
  autoUpdateToken: texts["auto-update-token-file"],
});

/** What each cluster is asked to get. @param system where what is not given is looked up */
function requestsOf({ values, args: { app } }: Read, clusters: readonly string[], system: string | undefined) {
  const found = clusters.map(
    (cluster) => [cluster, system === undefined ? undefined : spokeFacts(system, cluster, values.fleet)] as const,
  );
  const requests = found.map(([cluster, facts]): AppRequest => {
    const environment = values.environment || facts?.environment || "";
    return {
      ...{ app, cluster, environment, tenant: values.tenant, repositoryUrl: values["repository-url"] },
      revision: values.revision,
      path: values.path ?? overlayOf(environment, values["aws-engine"]),
      // They are compared with the allowed values before anything else uses them.
      sealing: (values.sealing as Sealing | undefined) ?? facts?.sealing,
      gitReceiver: values["git-receiver"] as ReceiverType | undefined,
      commitStatus: values["commit-status"] as CommitStatusType | undefined,
      commitStatusAddress: values["commit-status-address"],
      autoUpdate: values["auto-update"],
      autoUpdateRange: values["auto-update-range"],
      awsKinds: values["aws-kind"],
      awsEngine: values["aws-engine"],
      quota: values.quota,
    };
  });
  return { requests, problems: environmentProblems(values.environment, found, system, values.fleet) };
}

/** What a command line says, and what is wrong with it by itself. */
export function lineOf(argv: readonly string[]) {
  const line = read(argv);
  const checkout = resolve(line.values.repository ?? ".");
  const system = systemBeside(checkout, line.values.system);
  const clusters = [...new Set(line.values.cluster)];
  // Without a cluster everything else that is wrong is told as well.
  const asked = requestsOf(line, clusters.length === 0 ? [""] : clusters, system);
  const told: readonly Problem[] = together(line.problems, [
    ...asked.problems,
    ...wishProblems(line.values, [checkout]),
    ...certificateProblems(line.texts.certificate),
    ...systemProblems(line.values.system),
  ]);
  return { ...line, checkout, system, clusters, requests: asked.requests, access: accessOf(line), told };
}

export type Line = ReturnType<typeof lineOf>;
