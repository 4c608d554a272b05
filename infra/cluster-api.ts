import * as pulumi from "@pulumi/pulumi";
import { EncryptionKey } from "../components/encryption-key.ts";
import { FleetBoundary } from "../components/fleet-boundary.ts";
import { IrsaRole } from "../components/irsa-role.ts";
import { clusterApiPolicy } from "../lib/iam/cluster-api.ts";
import { clusterApiController, fleetNames } from "../lib/names.ts";
import type { AwsAccount } from "./account.ts";
import { type BoundarySource, clusterApiBoundaryArgs } from "./boundaries.ts";
import { ofEveryRole, type PodTrust } from "./hub.ts";
import type { Settings } from "./settings.ts";

/**
 * What Cluster API on the hub needs in AWS: the role of its AWS provider, the boundary of the roles that it makes, and the key of its
 * clusters.
 */
export interface ClusterApi {
  readonly role: IrsaRole;
  readonly key: EncryptionKey;
}

/** Undefined in a stack without it. */
export function clusterApi(
  settings: Settings,
  account: AwsAccount,
  podTrust: PodTrust,
  places: BoundarySource,
): ClusterApi | undefined {
  if (!settings.clusterApi) return undefined;
  const { fleet, kmsDeletionWindowDays } = settings;
  const { tags } = places;
  const names = fleetNames(fleet);
  const key = new EncryptionKey("cluster-api", {
    description: `Kubernetes secrets of clusters of fleet ${fleet} that Cluster API makes`,
    alias: names.clusterApiKeyAlias,
    kmsDeletionWindowDays,
    tags,
    // Whatever the stack says: without clusterApi the key would go while clusters that only Kubernetes knows are encrypted with it.
    protect: true,
  });
  const boundary = new FleetBoundary("cluster-api-boundary", clusterApiBoundaryArgs(places));
  const role = new IrsaRole("cluster-api", {
    roleName: names.clusterApiRole,
    description: "Cluster API makes clusters of the fleet",
    ...podTrust,
    subject: clusterApiController,
    policy: pulumi
      .all([pulumi.output(account), boundary.arn, key.arn])
      .apply(([scope, boundaryArn, keyArn]) =>
        clusterApiPolicy({ ...scope, fleet, spokePrefix: names.spokePrefix, boundaryArn, keyArn }),
      ),
    ...ofEveryRole(settings),
    tags,
  });
  return { role, key };
}
