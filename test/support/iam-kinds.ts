/** The kinds of AWS resources that the project makes, as the program, the composition and the template of applications say. */
import { readFileSync } from "node:fs";
import { Cluster, ManagedNodeGroup } from "@eks-gitops-fleet/local/pulumi";
import type { ClusterArgs, ManagedNodeGroupArgs } from "@pulumi/eks";
import { parse, parseAllDocuments } from "yaml";
import { managedKinds } from "../../functions/spoke/kinds.ts";
import { type Registered, recorded, runStack } from "./program.ts";

/** Pulumi's name of a kind that Crossplane calls differently. */
const renamed: Readonly<Record<string, string>> = {
  "cloudwatch/loggroup": "cloudwatchlogs/group",
  "vpc/securitygroupingressrule": "ec2/securitygroupingressrule",
};

const kindsOf = (resources: readonly Registered[]): string[] =>
  resources
    .map(({ type }) => /^aws:(\w+)\/\w+:(\w+)$/.exec(type))
    .flatMap((found) => (found ? [`${found[1]}/${found[2]}`.toLowerCase()] : []))
    .map((kind) => renamed[kind] ?? kind);

/** What @pulumi/eks makes for the components that the program asks for. */
async function childrenOf(components: readonly Registered[]): Promise<readonly Registered[]> {
  const { resources } = await recorded("eks", async () => {
    for (const { type, name, inputs } of components) {
      if (type === "eks:index:Cluster") new Cluster(name, inputs as ClusterArgs, {});
      else {
        const cluster = { core: { cluster: { name: "hub", version: "1" } } };
        new ManagedNodeGroup(name, { ...inputs, cluster } as unknown as ManagedNodeGroupArgs, {});
      }
    }
  });
  return resources;
}

/** Kinds that the program makes for the hub. */
export async function programKinds(): Promise<ReadonlySet<string>> {
  const resources: Registered[] = [];
  const topic = "arn:aws:sns:us-east-1:111111111111:alerts";
  const optional = {
    hubWorkloadIdentity: "pod-identity",
    metrics: "amp",
    metricsAlertTopicArn: topic,
    grafana: "amg",
    accounts: '[{"id":"333333333333","scopes":["dev"]}]',
    grafanaAdminGroups: '["0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"]',
  };
  for (const [stack, more] of Object.entries({ dev: optional, prod: {} }))
    resources.push(...(await runStack(stack, more)).resources);
  const components = resources.filter(({ type }) => type.startsWith("eks:index:"));
  return new Set(kindsOf([...resources, ...(await childrenOf(components))]));
}

const crossplaneKind = (kind: string, group: string) => `${group.split(".")[0]}/${kind}`.toLowerCase();

/** Kinds of which a Spoke is composed. */
export const compositionKinds = (): ReadonlySet<string> =>
  new Set(Object.entries(managedKinds).map(([kind, api]) => crossplaneKind(kind, api)));

const read = (path: string) => readFileSync(new URL(`../../repos/${path}`, import.meta.url), "utf8");

/** Kinds that applications order on a spoke, and those of their template. */
export function tenantKinds(): ReadonlySet<string> {
  const activated = ["crossplane-packages", "addons/rds_instances/release", "addons/s3_buckets/release"].flatMap(
    (folder): string[] => parse(read(`gitops-system/tools/base/${folder}/activation.yaml`)).spec.activate,
  );
  const ordered = activated.map((name) => {
    const [plural = "", group = ""] = name.split(/\.(.*)/);
    return crossplaneKind(plural.replace(/ies$/, "y").replace(/s$/, ""), group);
  });
  const template = parseAllDocuments(read("gitops-workloads/templates/app/aws.yaml"))
    .map((document) => document.toJS() as { apiVersion: string; kind: string })
    .filter(({ apiVersion }) => /^\w+\.aws\.m\./.test(apiVersion))
    .map(({ apiVersion, kind }) => crossplaneKind(kind, apiVersion));
  return new Set([...ordered, ...template]);
}

/** Actions that the template gives the pods of an application. */
export function applicationActions(): readonly string[] {
  const documents = parseAllDocuments(read("gitops-workloads/templates/app/aws.yaml")).map((document) =>
    document.toJS(),
  );
  const { policy } = documents.find(({ kind }) => kind === "RolePolicy").spec.forProvider;
  return JSON.parse(policy).Statement.flatMap(({ Action }: { Action: string[] }) => Action);
}
