import type { Instance } from "../instance/addresses.ts";
import { readJson, writeAtomic } from "../instance/files.ts";
import type { BuiltAddons } from "../toolchain/index.ts";

/** The add-ons that an instance's clusters can run: their charts are in its mirror, their images on every node. Undefined while there are none. */
export const preparedAddons = ({ paths }: Pick<Instance, "paths">): Promise<BuiltAddons | undefined> =>
  readJson<BuiltAddons>(paths.addons);

/** Notes add-ons for the nodes that start from now on, and for the gateway, which serves the mirror. */
export const notePrepared = ({ paths }: Pick<Instance, "paths">, addons: BuiltAddons): Promise<void> =>
  writeAtomic(paths.addons, `${JSON.stringify(addons, null, 2)}\n`);
