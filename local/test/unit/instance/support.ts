import { spawnSync } from "node:child_process";

/**
 * Whether instances can be opened here: that needs root, iproute2 and nftables. Unit tests with real addresses and
 * processes are skipped elsewhere; `npm test` installs what is missing first, so there they always run.
 */
export const canOpenInstances =
  process.getuid?.() === 0 && ["ip", "nft"].every((name) => spawnSync(name, ["-V"]).error === undefined);
