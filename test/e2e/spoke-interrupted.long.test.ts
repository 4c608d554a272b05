import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CreateTransitGatewayCommand, DeleteTransitGatewayCommand } from "@aws-sdk/client-ec2";
import { clearFaults, setFaults } from "@eks-gitops-fleet/local/gateway";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ManagedKind } from "../../functions/spoke/kinds.ts";
import { sharedNetworkTag } from "../../lib/labels.ts";
import { account, get, instance, kubectl } from "./support/fleet.ts";
import { killPods } from "./support/hub.ts";
import { spokeInventory } from "./support/inventory.ts";
import { deleteMadeTwice, recover } from "./support/made-twice.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { addSpoke, exists, fleet, managedOf, spoke, system, untilGone, untilReady } from "./support/spokes.ts";

/*
 * A spoke of its own whose creations are all interrupted, one of each kind: AWS makes what it is asked for, and the provider is killed before it
 * has the answer. A person has docs/guides/clusters.md#interrupted-creations.
 */

const SPOKE = "t2f";
const FLEET = "fleet";

/** The call by which the provider makes each kind that a spoke consists of. */
const creations = {
  AccessEntry: "eks:CreateAccessEntry",
  AccessPolicyAssociation: "eks:AssociateAccessPolicy",
  Addon: "eks:CreateAddon",
  Alias: "kms:CreateAlias",
  Cluster: "eks:CreateCluster",
  EIP: "ec2:AllocateAddress",
  DefaultSecurityGroup: "ec2:RevokeSecurityGroupEgress",
  FlowLog: "ec2:CreateFlowLogs",
  Group: "logs:CreateLogGroup",
  InternetGateway: "ec2:CreateInternetGateway",
  Key: "kms:CreateKey",
  LaunchTemplate: "ec2:CreateLaunchTemplate",
  NATGateway: "ec2:CreateNatGateway",
  NodeGroup: "eks:CreateNodegroup",
  OpenIDConnectProvider: "iam:CreateOpenIDConnectProvider",
  Role: "iam:CreateRole",
  RolePolicy: "iam:PutRolePolicy",
  RolePolicyAttachment: "iam:AttachRolePolicy",
  Route: "ec2:CreateRoute",
  RouteTable: "ec2:CreateRouteTable",
  RouteTableAssociation: "ec2:AssociateRouteTable",
  SecurityGroupIngressRule: "ec2:AuthorizeSecurityGroupIngress",
  Subnet: "ec2:CreateSubnet",
  VPC: "ec2:CreateVpc",
  VPCEndpoint: "ec2:CreateVpcEndpoint",
  VPCEndpointRouteTableAssociation: "ec2:ModifyVpcEndpoint",
  VPCEndpointSecurityGroupAssociation: "ec2:ModifyVpcEndpoint",
  VPCEndpointSubnetAssociation: "ec2:ModifyVpcEndpoint",
  TransitGatewayVPCAttachment: "ec2:CreateTransitGatewayVpcAttachment",
  VPCIPv4CidrBlockAssociation: "ec2:AssociateVpcCidrBlock",
  // The other two are of variants of the Composition.
} satisfies Record<Exclude<ManagedKind, "ClusterAuth" | "PodIdentityAssociation">, string>;
const actions: readonly string[] = Object.values(creations);
/** Whose requests name IDs alone, so that nobody can tell whether they are of this spoke. The other requests have its name, or its tags. */
const ofAnySpoke: readonly string[] = [
  creations.DefaultSecurityGroup,
  creations.Route,
  creations.RouteTableAssociation,
  creations.VPCEndpointRouteTableAssociation,
  creations.VPCIPv4CidrBlockAssociation,
];

/** Names of the providers' pods by service. */
const pods: Readonly<Record<string, string>> = { logs: "provider-aws-cloudwatchlogs" };
const podOf = (action: string): string => {
  const service = action.split(":")[0] ?? "";
  return pods[service] ?? `provider-aws-${service}`;
};

/** Seconds for a spoke that is interrupted in everything it needs. */
const PATIENCE = 2400;
/** Milliseconds between two looks at the log: an answer is held for a minute. */
const LOOK = 500;
/** How long a person leaves a spoke that says that it is stuck, in milliseconds. */
const REACTION = 20_000;

const log = () => readFileSync(join(instance.dir, "logs", "gateway.log"), "utf8");
/** How long it was when the test began. */
let begun: number;
/** The actions whose answers were held since, in that order. */
const held = (): string[] =>
  [
    ...log()
      .slice(begun)
      .matchAll(/holds the answer to (\S+)/g),
  ].map((match) => match[1] as string);

/** Kills a provider's processes, and takes its pod away so that the next one starts at once: a container that is killed again and again waits for minutes. */
async function killProvider(name: string): Promise<void> {
  await killPods(name);
  const { items } = await get(["pods", "--namespace", "crossplane-system"]);
  const names = items.map(({ metadata }: Editable) => metadata.name).filter((each: string) => each.startsWith(name));
  const now = ["--namespace", "crossplane-system", "--ignore-not-found", "--force", "--grace-period=0"];
  if (names.length > 0) await kubectl(["delete", "pod", ...names, ...now]);
}

/** None until Flux has applied the Spoke. */
const conditions = async (): Promise<Editable[]> =>
  (await exists(SPOKE)) ? ((await spoke(SPOKE)).status?.conditions ?? []) : [];
const isReady = async () => (await conditions()).some(({ type, status }) => type === "Ready" && status === "True");

/** Recovers the spoke where a condition of it asks for that. */
async function recoverIfAsked(): Promise<void> {
  if ((await conditions()).some(({ message }) => message?.includes("fleet recover"))) await recover(SPOKE);
}

/** A transit gateway as the network team has one, which lets the fleet attach to it. */
async function addTransitGateway(): Promise<string> {
  const Tags = [{ Key: sharedNetworkTag, Value: FLEET }];
  const TagSpecifications = [{ ResourceType: "transit-gateway" as const, Tags }];
  const { TransitGateway } = await account.ec2.send(new CreateTransitGatewayCommand({ TagSpecifications }));
  return TransitGateway?.TransitGatewayId ?? "";
}

let repository: Checkout;
let transitGateway: string;
beforeAll(async () => {
  repository = await system();
  transitGateway = await addTransitGateway();
  begun = log().length;
  await setFaults(instance, {
    heldAnswers: actions.map((action) => (ofAnySpoke.includes(action) ? action : { action, containing: SPOKE })),
  });
});
afterAll(() => clearFaults(instance));

test("a spoke comes up although the provider is killed while it makes one of each kind, with fleet recover", async () => {
  await addSpoke(repository, SPOKE, "dev", (manifest) => ({
    ...manifest,
    spec: {
      ...manifest.spec,
      network: {
        ...manifest.spec.network,
        flowLogs: "ALL",
        endpoints: ["sts"],
        podCidr: "100.127.0.0/16",
        transitGateway: { id: transitGateway, destinationCidrs: ["192.168.0.0/16"] },
      },
      endpoint: { ...manifest.spec.endpoint, privateAccessCidrs: ["100.64.0.0/16"] },
    },
  }));
  await repository.push(`Add spoke ${SPOKE}`);
  const killed = new Set<string>();
  // Also of what goes again before the spoke is Ready: Flux's access until it is narrow.
  const kinds = new Set<string>();
  const end = Date.now() + PATIENCE * 1000;
  let looked = Date.now();
  while (!(await isReady())) {
    expect(Date.now(), `not Ready; killed in ${[...killed].join(", ")}`).toBeLessThan(end);
    const fresh = held().filter((action) => !killed.has(action));
    for (const action of fresh) killed.add(action);
    for (const pod of new Set(fresh.map(podOf))) await killProvider(pod);
    if (Date.now() - looked > REACTION) {
      for (const { kind } of await managedOf(SPOKE)) kinds.add(kind);
      await recoverIfAsked();
      looked = Date.now();
    }
    await sleep(LOOK);
  }
  expect([...killed].sort()).toEqual([...actions].sort());
  for (const { kind } of await managedOf(SPOKE)) kinds.add(kind);
  expect([...kinds].sort()).toEqual(Object.keys(creations).sort());
}, 2_700_000);

test("what was made twice is named, and the spoke that is removed leaves nothing else", async () => {
  await clearFaults(instance);
  await untilReady(SPOKE);
  const { code, stdout, stderr } = await fleet(["recover", SPOKE]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  await deleteMadeTwice(stdout);
  await repository.remove(`spokes/fleet/${SPOKE}`);
  await repository.push(`Remove spoke ${SPOKE}`);
  await untilGone(SPOKE, PATIENCE);
  expect(await spokeInventory(FLEET, SPOKE)).toEqual([]);
  await account.ec2.send(new DeleteTransitGatewayCommand({ TransitGatewayId: transitGateway }));
}, 2_700_000);
