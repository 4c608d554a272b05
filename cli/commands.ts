import type { ParseArgsOptionsConfig } from "node:util";

/** What is known of a command without running it. */
export interface Description {
  /** One line for the list of commands. */
  readonly summary: string;
  /** What `--help` prints. */
  readonly help: string;
  /** The flags that it takes. */
  readonly options: ParseArgsOptionsConfig;
  /** What an option, or an argument such as `<shell>`, may be, where that is known; for completion. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

/** A command of `fleet`. */
export interface Command extends Description {
  /** @returns the exit code. */
  readonly run: (argv: readonly string[]) => Promise<number>;
}

/** Every command by its name, in alphabetical order; `npm run generate` takes over what is known of each into descriptions.json. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  "add-environment": () => import("./environment/add-environment.ts"),
  adopt: () => import("./adopt/command.ts"),
  "adopt-hub": () => import("./adopt-hub/command.ts"),
  check: () => import("./check/command.ts"),
  completion: () => import("./completion/command.ts"),
  costs: () => import("./costs/command.ts"),
  "deployer-policy": () => import("./fleet/deployer-policy.ts"),
  diff: () => import("./diff/command.ts"),
  doctor: () => import("./doctor/command.ts"),
  facts: () => import("./fleet/record.ts"),
  init: () => import("./init/command.ts"),
  keys: () => import("./sealing/keys.ts"),
  kubeconfig: () => import("./kubeconfig/command.ts"),
  list: () => import("./list/command.ts"),
  mirror: () => import("./mirror/command.ts"),
  "new-cluster": () => import("./spoke/new-cluster.ts"),
  "new-fleet": () => import("./fleet/new-fleet.ts"),
  "new-ring": () => import("./fleet/new-ring.ts"),
  "new-team": () => import("./spoke/new-team.ts"),
  "node-releases": () => import("./node-releases/command.ts"),
  offboard: () => import("./app/offboard.ts"),
  onboard: () => import("./app/onboard.ts"),
  promote: () => import("./environment/promote.ts"),
  protect: () => import("./spoke/protect.ts"),
  recover: () => import("./recover/command.ts"),
  release: () => import("./spoke/release.ts"),
  remove: () => import("./spoke/remove.ts"),
  "renew-access": () => import("./spoke/renew-access.ts"),
  report: () => import("./report/command.ts"),
  reseal: () => import("./sealing/reseal.ts"),
  rollouts: () => import("./rollouts/command.ts"),
  "rotate-deploy-key": () => import("./deploy-key/command.ts"),
  "rotate-key": () => import("./rotation/command.ts"),
  scale: () => import("./spoke/scale.ts"),
  seal: () => import("./sealing/command.ts"),
  "sealing-keys": () => import("./sealing/sealing-keys.ts"),
  sweep: () => import("./sweep/command.ts"),
  upgrade: () => import("./spoke/upgrade.ts"),
  "upgrade-platform": () => import("./upgrade-platform/command.ts"),
  why: () => import("./why/command.ts"),
};
