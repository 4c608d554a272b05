import {
  AmpClient,
  DescribeAlertManagerDefinitionCommand,
  paginateListRuleGroupsNamespaces,
  paginateListWorkspaces,
} from "@aws-sdk/client-amp";
import { CloudWatchLogsClient, paginateDescribeLogGroups } from "@aws-sdk/client-cloudwatch-logs";
import { EC2Client, paginateDescribeSecurityGroups } from "@aws-sdk/client-ec2";
import { GrafanaClient, paginateListWorkspaces as paginateListGrafanas } from "@aws-sdk/client-grafana";
import {
  GetOpenIDConnectProviderCommand,
  GetPolicyCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListOpenIDConnectProvidersCommand,
  paginateListAttachedRolePolicies,
} from "@aws-sdk/client-iam";
import { DescribeKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { DescribeSecretCommand, GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { z } from "zod";
import { fromJson } from "../../infra/forms.ts";
import { arns, partitionOf } from "../../lib/iam/policy.ts";
import type { Tags } from "../../lib/labels.ts";
import { hubName, sealingKeyOf } from "../../lib/names.ts";
import { look } from "../adopt/aws.ts";
import { all, asking, isTaggedFor, tagsOf, unlessMissing } from "../aws-calls.ts";
import type { AwsConfig } from "../doctor/aws.ts";
import {
  type HubInAws,
  isNamed,
  keepKey,
  type Named,
  type NamedType,
  type WorkspaceType,
  workspaceTypes,
} from "./locate.ts";
import type { Planned } from "./preview.ts";

/** What AWS has of a hub: by its tags, and by the names that the program gives. */

export interface SoughtHub {
  readonly fleet: string;
  /** EKS name of its cluster. */
  readonly cluster: string;
  readonly region: string;
  readonly planned: readonly Planned[];
}

export type LookForHub = (sought: SoughtHub, config: AwsConfig) => Promise<HubInAws>;

const ownPolicy = "docs/reference/deployer-policy/fleet-adopt-hub.json";
const asked = asking(ownPolicy);
/** What a call gives; undefined where there is nothing of the name. */
const askedFor = <T>(action: string, call: () => Promise<T>): Promise<T | undefined> =>
  asked(action, () => unlessMissing(call()));

const askedAsDeployer = asking("the policy deployer-secrets, which fleet deployer-policy prints,");
const valueSchema = z.object({ "tls.crt": z.string() });

/** The public half of a sealing key. The private one is read with it, and kept nowhere. */
async function certificateOf(secrets: SecretsManagerClient, SecretId: string): Promise<string> {
  const { SecretString = "" } = await askedAsDeployer("secretsmanager:GetSecretValue", () =>
    secrets.send(new GetSecretValueCommand({ SecretId })),
  );
  const read = valueSchema.safeParse(fromJson(SecretString));
  if (read.success) return read.data["tls.crt"];
  throw new Error(
    `the secret ${SecretId} is not a sealing key: its value has no certificate under tls.crt. Look who wrote it. Nothing was changed`,
  );
}

type Finder = (inputs: Readonly<Record<string, string>>) => Promise<Named | undefined>;

/** Looks for each type by the inputs that name it. */
function finders(
  config: AwsConfig,
  { account, region, fleet }: { readonly account: string; readonly region: string; readonly fleet: string },
): Readonly<Record<NamedType, Finder>> {
  const iam = new IAMClient(config);
  const kms = new KMSClient(config);
  const logs = new CloudWatchLogsClient(config);
  const secrets = new SecretsManagerClient(config);
  const named = (id: string | undefined, more = {}): Named | undefined =>
    id === undefined ? undefined : { id, ...more };
  const arn = arns({ partition: partitionOf(region), accountId: account, region });
  return {
    "aws:cloudwatch/logGroup:LogGroup": async ({ name = "" }) => {
      const groups = await asked("logs:DescribeLogGroups", () =>
        all(paginateDescribeLogGroups({ client: logs }, { logGroupNamePrefix: name }), (page) => page.logGroups),
      );
      return groups.some(({ logGroupName }) => logGroupName === name) ? { id: name } : undefined;
    },
    "aws:iam/policy:Policy": async ({ name = "", path = "/" }) => {
      const PolicyArn = arn.policy(`${path.slice(1)}${name}`);
      const found = await askedFor("iam:GetPolicy", () => iam.send(new GetPolicyCommand({ PolicyArn })));
      return found && { id: PolicyArn };
    },
    "aws:iam/role:Role": async ({ name = "" }) => {
      const found = await askedFor("iam:GetRole", () => iam.send(new GetRoleCommand({ RoleName: name })));
      return found && { id: name };
    },
    "aws:iam/rolePolicy:RolePolicy": async ({ name = "", role = "" }) => {
      const found = await askedFor("iam:GetRolePolicy", () =>
        iam.send(new GetRolePolicyCommand({ RoleName: role, PolicyName: name })),
      );
      return found && { id: `${role}:${name}` };
    },
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": async ({ role = "", policyArn = "" }) => {
      const attached = await askedFor("iam:ListAttachedRolePolicies", () =>
        all(paginateListAttachedRolePolicies({ client: iam }, { RoleName: role }), (page) => page.AttachedPolicies),
      );
      return attached?.some(({ PolicyArn }) => PolicyArn === policyArn) ? { id: `${role}/${policyArn}` } : undefined;
    },
    "aws:kms/alias:Alias": async ({ name = "" }) => {
      const found = await askedFor("kms:DescribeKey", () => kms.send(new DescribeKeyCommand({ KeyId: name })));
      const { KeyId: key, KeyState } = found?.KeyMetadata ?? {};
      const isGoing = KeyState === "PendingDeletion";
      return named(key && name, { key, ...(isGoing && { unusable: keepKey(key ?? "") }) });
    },
    "aws:secretsmanager/secret:Secret": async ({ name = "" }) => {
      const found = await askedFor("secretsmanager:DescribeSecret", () =>
        secrets.send(new DescribeSecretCommand({ SecretId: name })),
      );
      if (found?.DeletedDate !== undefined)
        return named(found.ARN, {
          unusable: `AWS is about to delete it: aws secretsmanager restore-secret --secret-id ${name}`,
        });
      const isSealingKey = found !== undefined && sealingKeyOf(fleet, name) !== undefined;
      return named(found?.ARN, isSealingKey ? { certificate: await certificateOf(secrets, name) } : {});
    },
  };
}

type Workspaces = (config: AwsConfig, fleet: string) => Promise<string[]>;

/** The workspaces with the hub's tags. */
const ofHub = <T extends { readonly tags?: Tags | undefined }>(found: readonly T[], fleet: string): T[] =>
  found.filter(({ tags }) => isTaggedFor({ fleet, cluster: hubName }, tags));

const workspaceFinders: Readonly<Record<WorkspaceType, Workspaces>> = {
  "aws:amp/workspace:Workspace": async (config, fleet) => {
    const found = await asked("aps:ListWorkspaces", () =>
      all(paginateListWorkspaces({ client: new AmpClient(config) }, {}), ({ workspaces }) => workspaces),
    );
    const kept = found.filter(({ status }) => status?.statusCode !== "DELETING");
    return ofHub(kept, fleet).flatMap(({ workspaceId }) => workspaceId ?? []);
  },
  "aws:grafana/workspace:Workspace": async (config, fleet) => {
    const found = await asked("grafana:ListWorkspaces", () =>
      all(paginateListGrafanas({ client: new GrafanaClient(config) }, {}), ({ workspaces }) => workspaces),
    );
    const kept = found.filter(({ status }) => status !== "DELETING");
    return ofHub(kept, fleet).flatMap(({ id }) => id ?? []);
  },
};

/** What is in workspaces of metrics. */
async function inMetricsOf(amp: AmpClient, ids: readonly string[]): Promise<HubInAws["inMetrics"]> {
  const read = await Promise.all(
    ids.map(async (workspaceId) => {
      const rules = await asked("aps:ListRuleGroupsNamespaces", () =>
        all(paginateListRuleGroupsNamespaces({ client: amp }, { workspaceId }), (page) => page.ruleGroupsNamespaces),
      );
      const manager = await askedFor("aps:DescribeAlertManagerDefinition", () =>
        amp.send(new DescribeAlertManagerDefinitionCommand({ workspaceId })),
      );
      return {
        rules: rules.flatMap(({ arn }) => arn ?? []),
        alertManagers: manager === undefined ? [] : [workspaceId],
      };
    }),
  );
  return { rules: read.flatMap(({ rules }) => rules), alertManagers: read.flatMap((each) => each.alertManagers) };
}

/** The default security group of each VPC. */
async function defaultGroupsOf(ec2: EC2Client, vpcs: readonly string[]): Promise<Record<string, string>> {
  if (vpcs.length === 0) return {};
  const Filters = [
    { Name: "group-name", Values: ["default"] },
    { Name: "vpc-id", Values: [...vpcs] },
  ];
  const groups = await asked("ec2:DescribeSecurityGroups", () =>
    all(paginateDescribeSecurityGroups({ client: ec2 }, { Filters }), ({ SecurityGroups }) => SecurityGroups),
  );
  return Object.fromEntries(groups.flatMap(({ GroupId, VpcId }) => (GroupId && VpcId ? [[VpcId, GroupId]] : [])));
}

/** The OIDC providers of clusters that this hub had. */
async function oidcProvidersOf(iam: IAMClient, fleet: string): Promise<string[]> {
  const { OpenIDConnectProviderList = [] } = await asked("iam:ListOpenIDConnectProviders", () =>
    iam.send(new ListOpenIDConnectProvidersCommand({})),
  );
  const own = await Promise.all(
    OpenIDConnectProviderList.map(async ({ Arn = "" }) => {
      const found = await askedFor("iam:GetOpenIDConnectProvider", () =>
        iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: Arn })),
      );
      return isTaggedFor({ fleet, cluster: hubName }, tagsOf(found?.Tags)) ? [Arn] : [];
    }),
  );
  return own.flat();
}

/** What names a resource. The ARN of a policy of the program's own is AWS's: Pulumi does not know it before the policy is in the state. */
function knownInputs({ inputs, from }: Planned, found: ReadonlyMap<string, Named>): Readonly<Record<string, string>> {
  const policyArn = found.get(from["policyArn"]?.[0] ?? "")?.id;
  return { ...(inputs as Readonly<Record<string, string>>), ...(policyArn !== undefined && { policyArn }) };
}

/** Asks AWS, with the caller's own credentials. */
export const lookForHub: LookForHub = async ({ fleet, cluster, region, planned }, config) => {
  const own = { ...config, region };
  const sought = { fleet, spoke: hubName, cluster, region, leaving: true };
  const { account, tagged, cluster: running } = await look(sought, config, ownPolicy);
  const find = finders(own, { account, region, fleet });
  const named = new Map<string, Named>();
  // One after the other: IAM admits few calls in a second, and Pulumi names a policy before what attaches it.
  for (const each of planned) {
    if (!isNamed(each.type)) continue;
    const found = await find[each.type](knownInputs(each, named));
    if (found !== undefined) named.set(each.urn, found);
  }
  const wanted = workspaceTypes.filter((type) => planned.some((each) => each.type === type));
  const workspaces: HubInAws["workspaces"] = Object.fromEntries(
    await Promise.all(wanted.map(async (type) => [type, await workspaceFinders[type](own, fleet)] as const)),
  );
  const [inMetrics, defaultGroups, oidcProviders] = await Promise.all([
    inMetricsOf(new AmpClient(own), workspaces["aws:amp/workspace:Workspace"] ?? []),
    defaultGroupsOf(
      new EC2Client(own),
      tagged.filter(({ kind }) => kind === "VPC").map(({ id }) => id),
    ),
    oidcProvidersOf(new IAMClient(own), fleet),
  ]);
  return {
    ...{ account, hasCluster: running !== undefined, tagged, named },
    ...{ workspaces, inMetrics, defaultGroups, oidcProviders },
  };
};
