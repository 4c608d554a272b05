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

/** A principal of a list in the stack. */
interface Named {
  readonly key: (typeof keys)[number];
  readonly index: number;
  readonly arn: string;
}

/** Whether a caller is a principal, or a session of it. */
const isCaller = (caller: string, arn: string): boolean =>
  caller === arn || (partsOf(arn)?.kind === "role" && caller.split("/").at(-2) === partsOf(arn)?.name);

/** What IAM has of a principal of a list in the stack. */
function configured(title: string, arn: string, { exists, successor }: Standing): Finding {
  if (exists) return ok(title, arn);
  if (successor === undefined)
    return wrong(title, `IAM has no ${arn}`, `correct it, or remove it: pulumi config rm --path '${title}'`);
  return wrong(
    title,
    `IAM has no ${arn}; it has ${successor}`,
    `pulumi config set --path '${title}' ${successor}\npulumi up   # replaces the access entry`,
  );
}

/** An access entry of the hub without a principal, outside the lists of the stack. */
const dead = (cluster: string, region: string, arn: string, { successor }: Standing): Finding =>
  wrong(
    "access entries of the hub",
    `IAM has no ${arn}: its access entry admits no identity${successor === undefined ? "" : `. The permission set now has ${successor}`}`,
    [
      `aws eks delete-access-entry --region ${region} --cluster-name ${cluster} --principal-arn ${arn}`,
      ...(successor === undefined ? [] : [`add ${successor} to clusterAdmins or clusterViewers, then pulumi up`]),
    ].join("\n"),
  );

interface Hub {
  readonly region: string;
  readonly cluster: string;
  readonly exists: boolean;
  readonly caller: string;
  readonly config: AwsConfig;
}

const accountOf = (arn: string): string | undefined => arn.split(":")[4];

/** Whether a principal of a list in the stack can have access to the hub. */
async function checkNamed({ key, index, arn }: Named, { exists: hasHub, caller, config }: Hub): Promise<Finding> {
  const title = `${key}[${index}]`;
  if (accountOf(arn) !== accountOf(caller))
    return note(title, `${arn} is in another account than these credentials`, "check there that it exists");
  if (!hasHub && isCaller(caller, arn))
    return wrong(
      title,
      `${arn} is the identity that creates the hub: EKS makes it an administrator, and rejects a second access entry`,
      `remove it: pulumi config rm --path '${title}'; or run pulumi up with another identity`,
    );
  try {
    return configured(title, arn, await standingOf(iamOf(arn, config), arn));
  } catch (error) {
    return untold(title, error, actions);
  }
}

/** The access entries of the hub, outside the lists of the stack, that have no principal. */
async function checkEntries(eks: EKSClient, named: readonly Named[], hub: Hub): Promise<Finding[]> {
  const { region, cluster, caller, config } = hub;
  try {
    const entries = await all(
      paginateListAccessEntries({ client: eks }, { clusterName: cluster }),
      (page) => page.accessEntries,
    );
    const others = entries.filter(
      (arn) => accountOf(arn) === accountOf(caller) && named.every((each) => each.arn !== arn),
    );
    const findings = others.map(async (arn) => {
      const standing = await standingOf(iamOf(arn, config), arn);
      return standing.exists ? [] : [dead(cluster, region, arn, standing)];
    });
    return (await Promise.all(findings)).flat();
  } catch (error) {
    return [untold("access entries of the hub", error, `${actions} and eks:ListAccessEntries`)];
  }
}

/**
 * Whether the principals exist that get access to the hub: EKS rejects others. Before the hub exists, none may be the caller, whom EKS makes an
 * administrator itself. Afterwards, whether the principals of all its access entries still exist.
 */
export async function checkAccess({ settings, region }: Stack, config: AwsConfig, caller: string): Promise<Finding[]> {
  const { fleet } = settings;
  if (region === undefined || fleet === undefined) return [];
  const eks = new EKSClient({ ...config, region });
  const cluster = fleetNames(fleet).hubCluster;
  const named = keys.flatMap((key) => (settings[key] ?? []).map((arn, index) => ({ key, index, arn })));
  try {
    const hub = { region, cluster, exists: await exists(eks, cluster), caller, config };
    const findings = await Promise.all(named.map((each) => checkNamed(each, hub)));
    return [...findings, ...(hub.exists ? await checkEntries(eks, named, hub) : [])];
  } catch (error) {
    return [untold("access to the hub", error, "eks:DescribeCluster")];
  }
}

const exists = (eks: EKSClient, name: string): Promise<boolean> =>
  eks.send(new DescribeClusterCommand({ name })).then(
    () => true,
    (error: unknown) => (isMissing(error) ? false : Promise.reject(error)),
  );
