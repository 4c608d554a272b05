import { githubApp, gitToken } from "../git/credentials.ts";
import { API_PATH } from "../git/github-app.ts";
import { GIT_HOST, GIT_HTTPS_PORT, gitAuthority, gitKnownHosts, registerDeployKeys } from "../git/index.ts";
import type { Instance } from "../instance/index.ts";
import { type AppAccess, repositories } from "../product.ts";
import { choicesOf, type GitMethod } from "./choices.ts";
import { sshUrlOf } from "./demo.ts";

/** Origin of the instance's Git server over HTTPS. */
const httpsOrigin = `https://${GIT_HOST}:${GIT_HTTPS_PORT}`;

/** URL under which clusters reach a repository. */
export const urlOf = (method: GitMethod, repository: string): string =>
  method === "deploy-key" ? sshUrlOf(repository) : `${httpsOrigin}/${repository}.git`;

/** What an instance says in a stack: config values by key, without the project's name. */
export interface StackValues {
  readonly values: Readonly<Record<string, string>>;
  /** Those that Pulumi keeps encrypted. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Name of the user, and number of the GitHub App, with which the fleet reads its own repositories. */
const FLEET_USER = "fleet";
const FLEET_APP = 1;

/** What a stack on the instance's Git server needs; makes the credential at the server, as a person does at a Git host. */
export async function gitConfig(instance: Instance, method: GitMethod): Promise<StackValues> {
  if (method === "deploy-key") return { values: { gitKnownHosts: gitKnownHosts(instance) }, secrets: {} };
  const values = {
    gitAuthentication: method,
    gitopsSystemRepoUrl: urlOf(method, "gitops-system"),
    gitopsWorkloadsRepoUrl: urlOf(method, "gitops-workloads"),
    gitCaCertificate: await gitAuthority(instance),
  };
  if (method === "token") {
    const token = await gitToken(instance, FLEET_USER, repositories);
    return { values: { ...values, gitUsername: FLEET_USER }, secrets: { gitToken: token } };
  }
  const { id, installationId, privateKey } = await githubApp(instance, FLEET_APP, repositories);
  return {
    values: {
      ...values,
      githubAppId: String(id),
      githubAppInstallationId: String(installationId),
      githubAppBaseUrl: `${httpsOrigin}${API_PATH}`,
    },
    secrets: { githubAppPrivateKey: privateKey },
  };
}

/** What a team gives `fleet onboard` for its repository, and what it does at the Git server with the deploy key that comes out. */
export interface AppGit {
  readonly repositoryUrl: string;
  readonly access: AppAccess;
  readonly register: (publicKey: string | undefined) => Promise<void>;
}

const TEAM_APP = 2;

/** The team's part for the repository of the demo's application. */
export async function appGit(instance: Instance, repository: string): Promise<AppGit> {
  const { git: method } = await choicesOf(instance);
  const repositoryUrl = urlOf(method, repository);
  const register: AppGit["register"] = async (publicKey) => {
    if (publicKey !== undefined) await registerDeployKeys(instance, [{ repository, publicKey, access: "read" }]);
  };
  if (method === "deploy-key") return { repositoryUrl, access: {}, register };
  if (method === "token") {
    const token = await gitToken(instance, repository, [repository]);
    return { repositoryUrl, access: { username: repository, token }, register };
  }
  const { id, installationId, privateKey } = await githubApp(instance, TEAM_APP, [repository]);
  const access = {
    githubAppId: String(id),
    githubAppInstallationId: String(installationId),
    githubAppKey: privateKey,
  };
  return { repositoryUrl, access, register };
}
