import * as pulumi from "@pulumi/pulumi";
import { userError } from "../components/user-error.ts";
import { describeConfigProblems, readConfig, supportNotice } from "./config.ts";
import type { Settings } from "./settings.ts";

/** Not in Pulumi's type declarations: whether a config key is encrypted. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret: (key: string) => boolean };

/**
 * The stack's settings.
 * @throws a user error that lists every problem, before any resource is registered: the program ends with exit code 1.
 */
export function loadSettings(): Settings {
  const project = pulumi.getProject();
  const { settings, problems } = readConfig({
    project,
    values: pulumi.runtime.allConfig(),
    isSecret: isConfigSecret,
    region: new pulumi.Config("aws").get("region") ?? process.env["AWS_REGION"],
  });
  if (problems.length > 0) throw userError(describeConfigProblems(project, pulumi.getStack(), problems));
  const read = settings as Settings;
  const notice = supportNotice(project, read.kubernetesVersion, new Date());
  if (notice !== undefined) void pulumi.log.warn(notice);
  return read;
}
