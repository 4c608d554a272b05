import { spawnSync } from "node:child_process";

/**
 * Whether instances can be opened here: that needs root, iproute2 and nftables. Unit tests with real addresses and
 * processes are skipped elsewhere; after a start of the embedded cloud, `npm test` always runs them.
 */
export const canOpenInstances =
  process.getuid?.() === 0 && ["ip", "nft"].every((name) => spawnSync(name, ["-V"]).error === undefined);
