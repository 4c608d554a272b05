import type { ParseArgsOptionsConfig } from "node:util";
import * as adopt from "./adopt/command.ts";
import * as offboard from "./app/offboard.ts";
import * as onboard from "./app/onboard.ts";
import * as check from "./check/command.ts";
import * as diff from "./diff/command.ts";
import * as doctor from "./doctor/command.ts";
import * as deployerPolicy from "./fleet/deployer-policy.ts";
import * as newFleet from "./fleet/new-fleet.ts";
import * as newRing from "./fleet/new-ring.ts";
import * as facts from "./fleet/record.ts";
import * as init from "./init/command.ts";
import * as kubeconfig from "./kubeconfig/command.ts";
import * as list from "./list/command.ts";
import * as nodeReleases from "./node-releases/command.ts";
import * as rollouts from "./rollouts/command.ts";
import * as rotateKey from "./rotation/command.ts";
import * as seal from "./sealing/command.ts";
import * as keys from "./sealing/keys.ts";
import * as reseal from "./sealing/reseal.ts";
import * as sealingKeys from "./sealing/sealing-keys.ts";
import * as moveSpokes from "./spoke/move-spokes.ts";
import * as newCluster from "./spoke/new-cluster.ts";
import * as newTeam from "./spoke/new-team.ts";
import * as protect from "./spoke/protect.ts";
import * as release from "./spoke/release.ts";
import * as remove from "./spoke/remove.ts";
import * as scale from "./spoke/scale.ts";
import * as upgrade from "./spoke/upgrade.ts";
import * as upgradePlatform from "./upgrade-platform/command.ts";
import * as why from "./why/command.ts";

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

/** Every command by its name, in alphabetical order. */
export const commands: Readonly<Record<string, Command>> = {
  adopt,
  check,
  "deployer-policy": deployerPolicy,
  diff,
  doctor,
  facts,
  init,
  keys,
  kubeconfig,
  list,
  "move-spokes": moveSpokes,
  "new-cluster": newCluster,
  "new-fleet": newFleet,
  "new-ring": newRing,
  "new-team": newTeam,
  "node-releases": nodeReleases,
  offboard,
  onboard,
  protect,
  release,
  remove,
  reseal,
  rollouts,
  "rotate-key": rotateKey,
  scale,
  seal,
  "sealing-keys": sealingKeys,
  upgrade,
  "upgrade-platform": upgradePlatform,
  why,
/** Every command by its name, in alphabetical order; `npm run generate` takes over what is known of each into descriptions.json. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  check: () => import("./check/command.ts"),
  completion: () => import("./completion/command.ts"),
  "deployer-policy": () => import("./fleet/deployer-policy.ts"),
  diff: () => import("./diff/command.ts"),
  doctor: () => import("./doctor/command.ts"),
  facts: () => import("./fleet/record.ts"),
  init: () => import("./init/command.ts"),
  keys: () => import("./sealing/keys.ts"),
  kubeconfig: () => import("./kubeconfig/command.ts"),
  list: () => import("./list/command.ts"),
  "move-spokes": () => import("./spoke/move-spokes.ts"),
  "new-cluster": () => import("./spoke/new-cluster.ts"),
  "new-fleet": () => import("./fleet/new-fleet.ts"),
  "new-ring": () => import("./fleet/new-ring.ts"),
  "new-team": () => import("./spoke/new-team.ts"),
  "node-releases": () => import("./node-releases/command.ts"),
  offboard: () => import("./app/offboard.ts"),
  onboard: () => import("./app/onboard.ts"),
  protect: () => import("./spoke/protect.ts"),
  remove: () => import("./spoke/remove.ts"),
  reseal: () => import("./sealing/reseal.ts"),
  rollouts: () => import("./rollouts/command.ts"),
  "rotate-key": () => import("./rotation/command.ts"),
  scale: () => import("./spoke/scale.ts"),
  seal: () => import("./sealing/command.ts"),
  "sealing-keys": () => import("./sealing/sealing-keys.ts"),
  upgrade: () => import("./spoke/upgrade.ts"),
  "upgrade-platform": () => import("./upgrade-platform/command.ts"),
  why: () => import("./why/command.ts"),
};
