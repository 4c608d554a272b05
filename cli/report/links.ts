import type { Spoke } from "../../functions/spoke/api.ts";

/** Where a person looks next, in a browser. */

/** The console of each partition (AWS Management Console, "Supported Regions and console endpoints"). */
const consoles: Readonly<Record<string, string>> = {
  aws: "console.aws.amazon.com",
  "aws-cn": "console.amazonaws.cn",
  "aws-us-gov": "console.amazonaws-us-gov.com",
};

/** The page of a spoke's cluster in the AWS console; undefined before the cluster has an ARN. */
export function consoleLink({ spec: { region }, status }: Spoke): string | undefined {
  const [, partition = ""] = status?.cluster?.arn?.split(":") ?? [];
  const host = consoles[partition];
  if (host === undefined || status?.cluster === undefined) return undefined;
  return `https://${region}.${host}/eks/clusters/${encodeURIComponent(status.cluster.name)}?region=${encodeURIComponent(region)}`;
}

/** The page of a repository at its Git host, without credentials and the port of SSH; undefined where the host has none. */
export function repositoryLink(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, hostname, host, pathname } = new URL(url);
  // AWS CodeCommit's pages are in the console.
  if (hostname.startsWith("git-codecommit.")) return undefined;
  const path = pathname.replace(/\.git\/?$|\/$/, "");
  if (protocol === "https:") return `https://${host}${path}`;
  return protocol === "ssh:" ? `https://${hostname}${path}` : undefined;
}

/** The page of a commit of a repository. */
export function commitLink(repository: string | undefined, commit: string | undefined): string | undefined {
  if (repository === undefined || commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const { hostname } = new URL(repository);
  const folder = /gitlab/.test(hostname) ? "-/commit" : /bitbucket/.test(hostname) ? "commits" : "commit";
  return `${repository}/${folder}/${commit}`;
}

/** The commit in a revision of Flux (`main@sha1:…`); undefined for others, such as a chart's version. */
export const commitOf = (revision: string | undefined): string | undefined =>
  /@sha(?:1|256):([0-9a-f]{40,64})$/.exec(revision ?? "")?.[1];
