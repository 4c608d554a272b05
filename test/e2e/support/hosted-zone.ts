import {
  CreateHostedZoneCommand,
  DeleteHostedZoneCommand,
  ListResourceRecordSetsCommand,
  Route53Client,
  type Route53ClientConfig,
} from "@aws-sdk/client-route-53";
import { account, instance } from "./fleet.ts";

/** Route 53 as the account's root, or with these credentials. */
export const route53 = (credentials: Route53ClientConfig["credentials"] = account.sts.config.credentials) =>
  new Route53Client({ region: "us-east-1", endpoint: instance.awsEndpoint, credentials: credentials as never });

export type HostedZone = Awaited<ReturnType<typeof hostedZone>>;

/** Makes a hosted zone in Route 53. */
export async function hostedZone(domain: string) {
  const client = route53();
  const made = await client.send(new CreateHostedZoneCommand({ Name: domain, CallerReference: domain }));
  const id = made.HostedZone?.Id?.split("/").at(-1) ?? "";
  return {
    id,
    /** Its records beside those that every zone has, as `name TYPE`. */
    async records(): Promise<string[]> {
      const { ResourceRecordSets = [] } = await client.send(new ListResourceRecordSetsCommand({ HostedZoneId: id }));
      return ResourceRecordSets.map(({ Name, Type }) => `${Name} ${Type}`).filter(
        (record) => !/ (NS|SOA)$/.test(record),
      );
    },
    remove: () => client.send(new DeleteHostedZoneCommand({ Id: id })),
  };
}
