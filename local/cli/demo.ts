import { MACHINE } from "../gateway/eks/endpoint-access.ts";
import { ACCOUNT, PARTITION } from "../gateway/ministack.ts";
import { GIT_HOST, GIT_SSH_PORT } from "../git/index.ts";
import type { Question } from "../product.ts";

/** The spoke that `npm start` adds, and the application on it. */
export const demo = {
  spoke: "blue",
  environment: "dev",
  app: "payment-app",
  tenant: "payments",
  /** One minor below the newest, so that an upgrade can be tried. */
  kubernetesVersion: "1.35",
  /** As many as this machine bears: each is a kubelet with its containerd. */
  nodes: "1",
  appRepository: "payment-app-manifests",
  /** How the Git server of the instance signs its calls to the spoke. */
  gitReceiver: "github",
} as const;

/** URL under which clusters reach a repository of the instance's Git server. */
export const sshUrlOf = (repository: string) => `ssh://git@${GIT_HOST}:${GIT_SSH_PORT}/${repository}.git`;

/** ARN of the person of the local stack, who may use kubectl on its clusters. */
export const deployerArn = `arn:${PARTITION}:iam::${ACCOUNT}:user/deployer`;

/** This machine, as the endpoints of clusters see it. */
export const machineCidr = `${MACHINE.publicAddress}/32`;

/** What tells that the application answers. */
export const appQuestion: Question = { namespace: demo.app, service: demo.app, port: "http", path: "/api/info" };
