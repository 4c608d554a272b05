import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Instance } from "../instance/index.ts";
import type { ProcessSpec } from "../supervisor/spec.ts";
import { publicParameters } from "./eks/node-releases.ts";
import { faultsFile } from "./faults/faults.ts";
import { gatewayKeyFile } from "./key.ts";

/** Port of ministack on the instance's loopback address. */
export const MINISTACK_PORT = 4566;

export { ACCOUNT } from "../instance/cluster-id.ts";
export const REGION = "us-east-1";
export const PARTITION = "aws";

/**
 * ministack 1.5.33 with our extension (ministack/main.py). `python` is the interpreter of a virtual environment that has it.
 * The key file must exist (`ensureGatewayKey`); its path, never its content, is in the environment.
 */
export function ministackProcess(
  instance: Pick<Instance, "dir" | "loopbackAddress" | "balancers">,
  python: string,
): ProcessSpec {
  return {
    id: "ministack",
    argv: [python, fileURLToPath(new URL("ministack/main.py", import.meta.url))],
    env: {
      FLEET_MINISTACK_KEY: gatewayKeyFile(instance),
      STATE_DIR: join(instance.dir, "ministack"),
      BIND_HOST: instance.loopbackAddress,
      GATEWAY_PORT: String(MINISTACK_PORT),
      MINISTACK_REGION: REGION,
      FLEET_FAULTS: faultsFile(instance),
      FLEET_PUBLIC_ADDRESSES: instance.balancers.publicCidr,
      FLEET_PUBLIC_PARAMETERS: JSON.stringify(publicParameters()),
      LOG_LEVEL: "WARNING",
      // Listeners on fixed ports that two instances would fight over.
      IOT_MTLS_ENABLED: "0",
      SFTP_ENABLED: "0",
      PYTHONUNBUFFERED: "1",
      // Nothing is written into the checkout.
      PYTHONDONTWRITEBYTECODE: "1",
    },
  };
}

/** URL of ministack, for the gateway itself. Everything else goes through the gateway. */
export function ministackEndpoint(instance: Pick<Instance, "loopbackAddress">): string {
  return `http://${instance.loopbackAddress}:${MINISTACK_PORT}`;
}
