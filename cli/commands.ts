import type { ParseArgsOptionsConfig } from "node:util";
import * as check from "./check.ts";
import * as deployerPolicy from "./deployer-policy.ts";
import * as diff from "./diff.ts";
import * as doctor from "./doctor.ts";
import * as init from "./init.ts";
import * as moveSpokes from "./move-spokes.ts";
import * as newCluster from "./new-cluster.ts";
import * as newFleet from "./new-fleet.ts";
import * as nodeReleases from "./node-releases.ts";
import * as onboard from "./onboard.ts";
import * as reseal from "./reseal.ts";
import * as sealingKeys from "./sealing-keys.ts";

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
  check,
  "deployer-policy": deployerPolicy,
  diff,
  doctor,
  init,
  "move-spokes": moveSpokes,
  "new-cluster": newCluster,
  "new-fleet": newFleet,
  "node-releases": nodeReleases,
  onboard,
  reseal,
  "sealing-keys": sealingKeys,
};
