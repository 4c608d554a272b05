import * as classic from "@aws-sdk/client-elastic-load-balancing";
import * as v2 from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Ask, all, tagsOf } from "../aws-calls.ts";
import type { AwsConfig } from "../doctor/aws.ts";
import type { Balancer, InVpc, Item, TargetGroup } from "./plan.ts";

/** Load balancers: classic ones, which have an API of their own, and the others with their target groups. */

type Untagged<Of> = Omit<Of, "tags">;

/** How many a call takes (ELB API References 2012-06-01 and 2015-12-01, DescribeTags). */
const MOST = 20;

/** Adds the tags that `read` gives by name or ARN. */
async function withTags<Of extends Item>(
  items: readonly Untagged<Of>[],
  read: (ids: string[]) => Promise<ReadonlyMap<string, Of["tags"]>>,
): Promise<Of[]> {
  const found: Of[] = [];
  for (let at = 0; at < items.length; at += MOST) {
    const some = items.slice(at, at + MOST);
    const tags = await read(some.map(({ id }) => id));
    found.push(...some.map((each) => ({ ...each, tags: tags.get(each.id) ?? {} }) as Of));
  }
  return found;
}

/** The load balancers and target groups in a VPC. */
export async function lookForBalancers(
  vpc: string,
  config: AwsConfig,
  asked: Ask,
): Promise<Pick<InVpc, "balancers" | "targetGroups">> {
  const old = new classic.ElasticLoadBalancingClient(config);
  const client = new v2.ElasticLoadBalancingV2Client(config);
  const [classics, others, groups] = await Promise.all([
    asked("elasticloadbalancing:DescribeLoadBalancers", () =>
      all(classic.paginateDescribeLoadBalancers({ client: old }, {}), (page) => page.LoadBalancerDescriptions),
    ),
    asked("elasticloadbalancing:DescribeLoadBalancers", () =>
      all(v2.paginateDescribeLoadBalancers({ client }, {}), (page) => page.LoadBalancers),
    ),
    asked("elasticloadbalancing:DescribeTargetGroups", () =>
      all(v2.paginateDescribeTargetGroups({ client }, {}), (page) => page.TargetGroups),
    ),
  ]);
  const tagsOfClassics = (LoadBalancerNames: string[]) =>
    asked("elasticloadbalancing:DescribeTags", async () => {
      const { TagDescriptions = [] } = await old.send(new classic.DescribeTagsCommand({ LoadBalancerNames }));
      return new Map(TagDescriptions.map(({ LoadBalancerName = "", Tags }) => [LoadBalancerName, tagsOf(Tags)]));
    });
  const tagsOfOthers = (ResourceArns: string[]) =>
    asked("elasticloadbalancing:DescribeTags", async () => {
      const { TagDescriptions = [] } = await client.send(new v2.DescribeTagsCommand({ ResourceArns }));
      return new Map(TagDescriptions.map(({ ResourceArn = "", Tags }) => [ResourceArn, tagsOf(Tags)]));
    });
  const description = "classic load balancer";
  return {
    balancers: [
      ...(await withTags<Balancer>(
        classics
          .filter(({ VPCId }) => VPCId === vpc)
          .map(({ LoadBalancerName: id = "" }) => ({ id, description, isClassic: true })),
        tagsOfClassics,
      )),
      ...(await withTags<Balancer>(
        others
          .filter(({ VpcId }) => VpcId === vpc)
          .map(({ LoadBalancerArn: id = "", Type }) => ({
            ...{ id, isClassic: false },
            description: `${Type ?? ""} load balancer`,
          })),
        tagsOfOthers,
      )),
    ],
    targetGroups: await withTags<TargetGroup>(
      groups
        .filter(({ VpcId }) => VpcId === vpc)
        .map(({ TargetGroupArn: id = "", LoadBalancerArns: balancers = [] }) => ({
          ...{ id, balancers },
          description: "",
        })),
      tagsOfOthers,
    ),
  };
}

/** Makes a call that removes; it succeeds where there is nothing any more. */
export type Removing = (action: string, call: () => Promise<unknown>) => Promise<unknown>;

export async function removeBalancers(
  balancers: readonly Balancer[],
  config: AwsConfig,
  removing: Removing,
): Promise<void> {
  const old = new classic.ElasticLoadBalancingClient(config);
  const client = new v2.ElasticLoadBalancingV2Client(config);
  for (const { id, isClassic } of balancers)
    await removing("elasticloadbalancing:DeleteLoadBalancer", () =>
      isClassic
        ? old.send(new classic.DeleteLoadBalancerCommand({ LoadBalancerName: id }))
        : client.send(new v2.DeleteLoadBalancerCommand({ LoadBalancerArn: id })),
    );
}

/** AWS refuses those that a load balancer uses, so these go after it. */
export async function removeTargetGroups(
  groups: readonly TargetGroup[],
  config: AwsConfig,
  removing: Removing,
): Promise<void> {
  const client = new v2.ElasticLoadBalancingV2Client(config);
  for (const { id } of groups)
    await removing("elasticloadbalancing:DeleteTargetGroup", () =>
      client.send(new v2.DeleteTargetGroupCommand({ TargetGroupArn: id })),
    );
}
