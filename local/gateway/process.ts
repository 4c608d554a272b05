import { fileURLToPath } from "node:url";
import type { Instance } from "../instance/index.ts";
import type { ProcessSpec } from "../supervisor/spec.ts";
import { RECORDED_CLUSTERS } from "./eks/recorded-clusters.ts";
import { PORTS } from "./gateway.ts";

/** The gateway as a process for the supervisor. It is ready when `healthUrl` answers 200. */
export function gatewayProcess(
  instance: Pick<Instance, "dir" | "loopbackAddress">,
): ProcessSpec & { readonly healthUrl: string } {
  const recorded = process.env[RECORDED_CLUSTERS];
  return {
    id: "gateway",
    argv: [process.execPath, fileURLToPath(new URL("main.ts", import.meta.url))],
    env: { FLEET_LOCAL_DIR: instance.dir, ...(recorded === undefined ? {} : { [RECORDED_CLUSTERS]: recorded }) },
    healthUrl: `http://${instance.loopbackAddress}:${PORTS.internal}/healthz`,
  };
}
