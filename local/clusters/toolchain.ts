import { ensureToolchain, type Toolchain } from "../toolchain/index.ts";

let found: Promise<Toolchain> | undefined;

/** The toolchain, looked up once in the life of this process. */
export function toolchain(): Promise<Toolchain> {
  found ??= ensureToolchain();
  return found;
}
