import { EC2 } from "@aws-sdk/client-ec2";
import { ElasticLoadBalancingV2 } from "@aws-sdk/client-elastic-load-balancing-v2";
import { balancerId, interfacesByBalancer, openListeners } from "../gateway/elb/snapshot.ts";
import { ensureGatewayKey, rootCredentials } from "../gateway/key.ts";
import { REGION } from "../gateway/ministack.ts";
import type { Instance } from "../instance/index.ts";

/** A load balancer of the AWS Load Balancer Controller for an Ingress, where a browser on this machine finds it. */
export interface Door {
  /** EKS name. */
  readonly cluster: string;
  /** `<namespace>/<name>`. */
  readonly ingress: string;
  readonly url: string;
}

/** The load balancers of Ingresses that face the internet and listen here, by the tags that the controller writes (its pkg/deploy/tracking). */
export async function doorsOf(instance: Instance): Promise<Door[]> {
  const credentials = rootCredentials(await ensureGatewayKey(instance));
  const place = { region: REGION, endpoint: instance.awsEndpoint, credentials };
  const elb = new ElasticLoadBalancingV2(place);
  const { LoadBalancers = [] } = await elb.describeLoadBalancers({});
  if (LoadBalancers.length === 0) return [];
  const interfaces = await interfacesByBalancer(new EC2(place));
  const doors = LoadBalancers.map(async ({ LoadBalancerArn = "" }): Promise<Door[]> => {
    const { TagDescriptions } = await elb.describeTags({ ResourceArns: [LoadBalancerArn] });
    const tags = new Map(TagDescriptions?.[0]?.Tags?.map(({ Key, Value }) => [Key, Value]));
    const [cluster, ingress] = [tags.get("elbv2.k8s.aws/cluster"), tags.get("ingress.k8s.aws/stack")];
    if (cluster === undefined || ingress === undefined) return [];
    const [own] = interfaces.get(balancerId(LoadBalancerArn)) ?? [];
    if (own === undefined) return [];
    const listeners = await openListeners(elb, LoadBalancerArn);
    return listeners.map(({ Port = 80 }) => {
      const url = `http://${own.publicAddress}${Port === 80 ? "" : `:${Port}`}`;
      return { cluster, ingress, url };
    });
  });
  return (await Promise.all(doors)).flat();
}
