import { DescribeClusterCommand, EKSClient, paginateListAccessEntries } from "@aws-sdk/client-eks";
import { fleetNames } from "../../lib/names.ts";
import { all } from "../aws-calls.ts";
import { iamOf, partsOf, type Standing, standingOf } from "../fleet/principals.ts";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

/** Settings that give principals access to the hub. */
const keys = ["clusterAdmins", "clusterViewers"] as const;

const actions = "iam:GetRole, iam:GetUser and iam:ListRoles";

/** Whether a caller is a principal, or a session of it. */
const isCaller = (caller: string, arn: string): boolean =>
  caller === arn || (partsOf(arn)?.kind === "role" && caller.split("/").at(-2) === partsOf(arn)?.name);

/** A principal of a list in the stack. */
function configured(key: string, index: number, arn: string, { exists, successor }: Standing): Finding {
  const title = `${key}[${index}]`;
  if (exists) return ok(title, arn);
  if (successor === undefined)
    return wrong(title, `IAM has no ${arn}`, `correct it, or remove it: pulumi config rm --path '${key}[${index}]'`);
  return wrong(
    title,
    `IAM has no ${arn}; it has ${successor}`,
    `pulumi config set --path '${key}[${index}]' ${successor}\npulumi up   # replaces the access entry`,
  );
}

/** An access entry of the hub without a principal, outside the lists of the stack. */
const dead = (cluster: string, region: string, arn: string, { successor }: Standing): Finding =>
  wrong(
    "access entries of the hub",
    `IAM has no ${arn}: its access entry admits no identity${successor === undefined ? "" : `. The permission set now has ${successor}`}`,
    [
      `aws eks delete-access-entry --region ${region} --cluster-name ${cluster} --principal-arn ${arn}`,
      ...(successor === undefined ? [] : [`add ${successor} to clusterAdmins, then pulumi up`]),
    ].join("\n"),
  );

/**
 * Whether the principals exist that get access to the hub: EKS rejects others. Before the hub exists, none may be the caller, whom EKS makes an
 * administrator itself. Afterwards, whether the principals of all its access entries still exist.
 */
export async function checkAccess({ settings, region }: Stack, config: AwsConfig, caller: string): Promise<Finding[]> {
  const { fleet } = settings;
  const account = caller.split(":")[4];
  if (region === undefined || fleet === undefined) return [];
  const eks = new EKSClient({ ...config, region });
  const cluster = fleetNames(fleet).hubCluster;
  const named = keys.flatMap((key) => (settings[key] ?? []).map((arn, index) => ({ key, index, arn })));
  try {
    const hasHub = await exists(eks, cluster);
    const findings = named.map(async ({ key, index, arn }): Promise<Finding> => {
      if (partsOf(arn)?.account !== account)
        return note(
          `${key}[${index}]`,
          `${arn} is in another account than these credentials`,
          "check there that it exists",
        );
      if (!hasHub && isCaller(caller, arn))
        return wrong(
          `${key}[${index}]`,
          `${arn} is the identity that creates the hub: EKS makes it an administrator, and rejects a second access entry`,
          `remove it: pulumi config rm --path '${key}[${index}]'; or run pulumi up with another identity`,
        );
      return configured(key, index, arn, await standingOf(iamOf(arn, config), arn));
    });
    const entries = hasHub
      ? await all(paginateListAccessEntries({ client: eks }, { clusterName: cluster }), (page) => page.accessEntries)
      : [];
    const others = entries.filter(
      (arn) => partsOf(arn)?.account === account && named.every((each) => each.arn !== arn),
    );
    const standings = await Promise.all(
      others.map(async (arn) => [arn, await standingOf(iamOf(arn, config), arn)] as const),
    );
    const gone = standings.filter(([, standing]) => !standing.exists);
    return [...(await Promise.all(findings)), ...gone.map(([arn, standing]) => dead(cluster, region, arn, standing))];
  } catch (error) {
    return [untold("access to the hub", error, `${actions}, eks:DescribeCluster and eks:ListAccessEntries`)];
  }
}

const exists = (eks: EKSClient, name: string): Promise<boolean> =>
  eks.send(new DescribeClusterCommand({ name })).then(
    () => true,
    (error: unknown) => (isMissing(error) ? false : Promise.reject(error)),
  );
