import { join } from "node:path";
import { commitStatusAddress, commitStatusTypes, repositoryAddress } from "../../lib/notifications.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { below, type Files, instantiate, withListed } from "../folder.ts";
import type { PlainSecret } from "../sealing/seal.ts";
import { choiceProblems } from "../usage.ts";
import type { AppAccess } from "./credential.ts";
import { tokenProblems, unusedProblems } from "./flags.ts";
import type { AppRequest } from "./rules.ts";

const flags = {
  type: "--commit-status",
  address: "--commit-status-address",
  token: "--commit-status-token-file",
} as const;
const template = join("templates", "app-commit-status");
/** The component in the application's folder, and its objects. */
const component = "commit-status";

/** The address at which the spoke's Flux writes the state of commits. */
const addressFor = ({ repositoryUrl, commitStatusAddress: address }: AppRequest): string =>
  address ?? repositoryAddress(repositoryUrl);

function addressProblems(request: AppRequest): Problem[] {
  const { commitStatus: type, commitStatusAddress: given } = request;
  if (type === undefined) return [];
  const { pattern, allowed } = commitStatusAddress(type);
  const address = addressFor(request);
  if (pattern.test(address)) return [];
  return [
    {
      key: flags.address,
      what: given === undefined ? `is needed: ${type} does not find the repository at its own address` : "does not fit",
      got: shown(address),
      allowed,
      remedy: "give the address of the repository as the Git host's website shows it",
    },
  ];
}

/** Problems of what the request says of commit statuses. @param hasUrl whether its repository's URL is one */
export function commitStatusProblems(request: AppRequest, token: string | undefined, hasUrl: boolean): Problem[] {
  const { commitStatus: type, commitStatusAddress: address } = request;
  if (type === undefined)
    return unusedProblems(
      { [flags.address]: address, [flags.token]: token },
      flags.type,
      `${flags.type} ${commitStatusTypes.join(", ")}`,
    );
  const unknown = choiceProblems(flags.type, type, commitStatusTypes, "choose the kind of the team's Git host");
  return [
    ...unknown,
    ...(unknown.length === 0 && (hasUrl || address !== undefined) ? addressProblems(request) : []),
    ...tokenProblems(
      flags.token,
      token,
      flags.type,
      "create one that may write the commit status of this repository only (docs/guides/notifications.md)",
    ),
  ];
}

/**
 * The Secret of the team's token, and of the authorities that sign the certificate of its Git host: Flux trusts no others then.
 * @param ofRepository authorities with which Flux reads the repository
 */
export function commitStatusSecret(
  request: AppRequest,
  { commitStatusToken: token = "", caCertificate }: AppAccess,
  ofRepository: string | undefined,
): PlainSecret {
  const { app, repositoryUrl } = request;
  const isSameHost = new URL(addressFor(request)).hostname === new URL(repositoryUrl).hostname;
  const authorities = caCertificate ?? (isSameHost ? ofRepository : undefined);
  return {
    namespace: app,
    name: component,
    data: { token: token.trim(), ...(authorities && { "ca.crt": authorities }) },
  };
}

/**
 * The files of an application with what writes the state of its commits to its Git host, if the request asks for that.
 * @param token the SealedSecret of the team's token
 */
export async function withCommitStatus(
  files: Files,
  checkout: string,
  request: AppRequest,
  token: () => Promise<string>,
): Promise<Files> {
  const { app, cluster, commitStatus: type } = request;
  if (type === undefined) return files;
  const values = { app, cluster, type, address: addressFor(request) };
  const made = { ...(await instantiate(checkout, template, values)), "token.yaml": await token() };
  return {
    ...files,
    ...below(component, made),
    "kustomization.yaml": withListed(files["kustomization.yaml"] ?? "", "components", component),
  };
}
