import type { Context } from "../context.ts";
import type { Resource } from "../resources.ts";

/** A log group that is kept and encrypted as the Spoke's other log groups. Without `logKey`, a key that AWS owns encrypts it. */
export function composeLogGroup({ composer, spoke, tags }: Context, group: Resource, externalName: string): void {
  const { region, logKey: kmsKeyId, logRetentionDays: retentionInDays } = spoke.spec;
  composer.managed(group, "Group", {}, () => ({
    externalName,
    forProvider: { region, retentionInDays, ...(kmsKeyId !== undefined && { kmsKeyId }), tags: tags() },
  }));
}
