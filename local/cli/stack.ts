import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { ACCOUNT, REGION } from "../gateway/ministack.ts";
import type { Instance } from "../instance/index.ts";

/** The root of this checkout, where Pulumi.yaml is. */
export const PROJECT = join(import.meta.dirname, "..", "..");

/** Config values by their full key, `project:key`, as they stand in a stack's file. */
export type Config = Readonly<Record<string, unknown>>;

/** Environment of the AWS and Kubernetes commands of an instance; Pulumi's is its own part. */
export function cloudEnvironment({ dir, paths, awsEndpoint }: Instance): Record<string, string> {
  return {
    FLEET_LOCAL_DIR: dir,
    AWS_ENDPOINT_URL: awsEndpoint,
    AWS_CONFIG_FILE: paths.awsConfig,
    AWS_SHARED_CREDENTIALS_FILE: paths.awsCredentials,
    AWS_PROFILE: "default",
    AWS_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_PAGER: "",
    KUBECONFIG: paths.kubeconfig,
  };
}

/**
 * What an instance's stack has over the values in stacks/: those that only the instance knows, and the emulated account
 * where the stack names the accounts that it may run in. Pure.
 */
export function overrides(original: string, values: Config): Config {
  const { config } = parse(original) as { config?: Config };
  const accounts = config?.["aws:allowedAccountIds"] === undefined ? {} : { "aws:allowedAccountIds": [ACCOUNT] };
  return { ...values, ...accounts };
}

/** The values of a stack as the project has them. Rejects for a stack that it doesn't have, naming the file. */
export const readStack = (stack: string) => readFile(join(PROJECT, "stacks", `Pulumi.${stack}.yaml`), "utf8");
