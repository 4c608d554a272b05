import type { EC2 } from "@aws-sdk/client-ec2";
import type { ElasticLoadBalancingV2, Rule, TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { BalancerInterface } from "../../instance/index.ts";

/** A listener for HTTP of an application load balancer that faces the internet. */
export interface Listener {
  readonly port: number;
  /** In the order in which they are tried; the last one is the default rule. */
  readonly rules: readonly Rule[];
}

export interface Balancer {
  readonly interfaces: readonly BalancerInterface[];
  readonly listeners: readonly Listener[];
}

export interface Target {
  readonly address: string;
  readonly port: number;
}

/** A target group that load balancers use. */
export interface Group {
  readonly settings: TargetGroup;
  readonly targets: readonly Target[];
}

/** What the load balancers of the account are, as AWS tells it. */
export interface Snapshot {
  readonly balancers: readonly Balancer[];
  /** By ARN. */
  readonly groups: ReadonlyMap<string, Group>;
}

interface Clients {
  readonly ec2: EC2;
  readonly elb: ElasticLoadBalancingV2;
}

const NONE: Snapshot = { balancers: [], groups: new Map() };

/** `<name>/<id>` of an application load balancer, by its ARN; empty of another one. */
export const balancerId = (arn: string): string => arn.split(":loadbalancer/app/")[1] ?? "";

/** Public and private addresses of application load balancers, by `<name>/<id>`. Those of one that is gone stay a while. */
export async function interfacesByBalancer(ec2: EC2): Promise<Map<string, BalancerInterface[]>> {
  const { NetworkInterfaces = [] } = await ec2.describeNetworkInterfaces({});
  const found = new Map<string, BalancerInterface[]>();
  for (const { RequesterId, Description = "", Association, PrivateIpAddress = "" } of NetworkInterfaces) {
    const balancer = /^ELB app\/(.+)$/.exec(Description)?.[1];
    if (RequesterId !== "amazon-elb" || balancer === undefined || Association?.PublicIp === undefined) continue;
    const own = { publicAddress: Association.PublicIp, privateAddress: PrivateIpAddress };
    found.set(balancer, [...(found.get(balancer) ?? []), own]);
  }
  return found;
}

const place = ({ Priority = "default" }: Rule): number =>
  Priority === "default" ? Number.POSITIVE_INFINITY : Number(Priority);

/** The listeners of a load balancer that open here. */
export async function openListeners(elb: ElasticLoadBalancingV2, LoadBalancerArn: string) {
  const { Listeners = [] } = await elb.describeListeners({ LoadBalancerArn });
  return Listeners.filter(({ Protocol }) => Protocol === "HTTP");
}

async function listenersOf(elb: ElasticLoadBalancingV2, arn: string): Promise<Listener[]> {
  return Promise.all(
    (await openListeners(elb, arn)).map(async ({ ListenerArn, Port = 80 }): Promise<Listener> => {
      const { Rules = [] } = await elb.describeRules({ ListenerArn });
      return { port: Port, rules: Rules.toSorted((one, other) => place(one) - place(other)) };
    }),
  );
}

async function targetsOf(elb: ElasticLoadBalancingV2, TargetGroupArn: string | undefined): Promise<Target[]> {
  const { TargetHealthDescriptions = [] } = await elb.describeTargetHealth({ TargetGroupArn });
  return TargetHealthDescriptions.flatMap(({ Target: { Id, Port } = { Id: undefined } }) =>
    Id === undefined || Port === undefined ? [] : [{ address: Id, port: Port }],
  );
}

/** Reads all of it. One call, where there is no load balancer that faces the internet. */
export async function readSnapshot({ ec2, elb }: Clients): Promise<Snapshot> {
  const interfaces = await interfacesByBalancer(ec2);
  if (interfaces.size === 0) return NONE;
  const { LoadBalancers = [] } = await elb.describeLoadBalancers({});
  const balancers = await Promise.all(
    LoadBalancers.map(async ({ LoadBalancerArn = "" }): Promise<Balancer> => {
      const own = interfaces.get(balancerId(LoadBalancerArn)) ?? [];
      return { interfaces: own, listeners: own.length === 0 ? [] : await listenersOf(elb, LoadBalancerArn) };
    }),
  );
  const { TargetGroups = [] } = await elb.describeTargetGroups({});
  // Of instances nothing runs here.
  const used = TargetGroups.filter(
    ({ TargetType, LoadBalancerArns = [] }) => TargetType === "ip" && LoadBalancerArns.length > 0,
  );
  const groups = await Promise.all(
    used.map(
      async (settings) =>
        [settings.TargetGroupArn ?? "", { settings, targets: await targetsOf(elb, settings.TargetGroupArn) }] as const,
    ),
  );
  return { balancers: balancers.filter(({ interfaces: own }) => own.length > 0), groups: new Map(groups) };
}
