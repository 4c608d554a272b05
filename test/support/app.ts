import { DescribeTableCommand, ListTagsOfResourceCommand } from "@aws-sdk/client-dynamodb";
import { GetRoleCommand } from "@aws-sdk/client-iam";
import { GetQueueUrlCommand, ListQueueTagsCommand } from "@aws-sdk/client-sqs";
import { expect } from "vitest";
import { ask } from "../../cli/app/ask.ts";
import { dnsSuffix } from "../../lib/iam/policy.ts";
import { clusterTag, fleetTag } from "../../lib/labels.ts";
import { fleetNames } from "../../lib/names.ts";
import type { Cluster, KubernetesObject } from "./cluster.ts";
import type { Account } from "./inventory.ts";
import { outcome } from "./process.ts";

/** The application of repos/payment-app-manifests; its namespace, service account and Flux objects have the same name. */
export const APP = "payment-app";

/** Name of its repository. */
export const APP_REPOSITORY = "payment-app-manifests";

const commitOf = (revision = "") => revision.split(":").at(-1) ?? "";

/** How far Flux on a spoke is with the application's repository. */
export async function appliedOn({ get }: Pick<Cluster, "get">) {
  const { metadata, status = {} } = await get(["kustomization", APP, "--namespace", APP]);
  const ready = (status.conditions ?? []).find(({ type }: { type: string }) => type === "Ready");
  return {
    ready: status.observedGeneration === metadata.generation ? (ready?.status as string | undefined) : "Unknown",
    message: ready?.message as string | undefined,
    attempted: commitOf(status.lastAttemptedRevision),
    commit: commitOf(status.lastAppliedRevision),
  };
}

/** What the application answers to GET /api/info; `kubectl` is the command with the flags that choose its cluster. */
export const infoBy = async (
  kubectl: readonly [string, ...string[]],
): Promise<{ readonly message: string; readonly hostname: string }> =>
  JSON.parse(await ask(kubectl, { namespace: APP, service: APP, port: "http", path: "/api/info" }));

/** Where the application runs. */
export interface Place {
  readonly fleet: string;
  readonly spoke: string;
  readonly environment: string;
  readonly accountId: string;
  readonly region: string;
  readonly partition: string;
}

/** What names of an application in AWS begin with, the whole name of its role. */
const ownOf = ({ fleet, spoke }: Pick<Place, "fleet" | "spoke">) => `${fleetNames(fleet).spokePrefix}${spoke}_${APP}`;

/** What its HTTP answer says, of the facts of the cluster. */
export const greetingAt = ({ spoke, environment }: Place): string => `payments on ${spoke} (${environment})`;

/** By whose kinds it orders: where they have the URL of a queue. */
const kinds = {
  crossplane: { queue: "queue.sqs.aws.m.upbound.io", urlOf: ({ atProvider }: KubernetesObject) => atProvider.url },
  ack: { queue: "queue.sqs.services.k8s.aws", urlOf: ({ queueURL }: KubernetesObject) => queueURL },
} as const;

/** Its table and its queue are in AWS, under the cluster's and its own name, with the fleet's tags. */
export async function expectOrders(
  { dynamodb, sqs }: Account,
  cluster: Cluster,
  place: Place,
  engine: keyof typeof kinds = "crossplane",
): Promise<void> {
  const own = ownOf(place);
  const owned = { [fleetTag]: place.fleet, [clusterTag]: place.spoke };
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: `${own}_payments` }));
  expect(Table).toMatchObject({ TableStatus: "ACTIVE", KeySchema: [{ AttributeName: "payment_id" }] });
  const { Tags } = await dynamodb.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }));
  expect(Object.fromEntries((Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toMatchObject(owned);
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: `${own}_events` }));
  const { Tags: tags } = await sqs.send(new ListQueueTagsCommand({ QueueUrl }));
  expect(tags).toMatchObject(owned);
  const { status } = await cluster.get([kinds[engine].queue, "events", "--namespace", APP]);
  expect(kinds[engine].urlOf(status)).toBe(
    `https://sqs.${place.region}.${dnsSuffix(place.partition)}/${place.accountId}/${own}_events`,
  );
}

/** Its pods have its own IAM role, under the tenants' boundary. */
export async function expectRole({ iam }: Account, cluster: Cluster, place: Place): Promise<void> {
  const own = ownOf(place);
  const { items } = await cluster.get(["pods", "--namespace", APP]);
  const ofAccount = `arn:${place.partition}:iam::${place.accountId}`;
  const arn = `${ofAccount}:role/${own}`;
  for (const { spec } of items) expect(spec.containers[0].env).toContainEqual({ name: "AWS_ROLE_ARN", value: arn });
  const { Role } = await iam.send(new GetRoleCommand({ RoleName: own }));
  const PermissionsBoundaryArn = `${ofAccount}:policy/${fleetNames(place.fleet).tenantBoundaryPolicy}`;
  expect(Role).toMatchObject({ Arn: arn, PermissionsBoundary: { PermissionsBoundaryArn } });
}

/** What AWS answers when it is asked for what the application orders: `allowed` for each that is there. */
export async function ordersOf({ dynamodb, iam, sqs }: Account, place: Pick<Place, "fleet" | "spoke">) {
  const own = ownOf(place);
  const [table, queue, role] = await Promise.all([
    outcome(dynamodb.send(new DescribeTableCommand({ TableName: `${own}_payments` }))),
    outcome(sqs.send(new GetQueueUrlCommand({ QueueName: `${own}_events` }))),
    outcome(iam.send(new GetRoleCommand({ RoleName: own }))),
  ]);
  return { table, queue, role };
}

/** What {@link ordersOf} gives where everything is there, and where nothing is. */
export const orders = {
  there: { table: "allowed", queue: "allowed", role: "allowed" },
  gone: { table: "ResourceNotFoundException", queue: "QueueDoesNotExist", role: "NoSuchEntityException" },
} as const;
