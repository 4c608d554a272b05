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

/** A command of `npx fleet`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** What `--help` prints. */
  readonly help: string;
  /** The flags that it takes. */
  readonly options: ParseArgsOptionsConfig;
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
};
