import { paginateDescribeVolumes } from "@aws-sdk/client-ec2";
import { expect } from "vitest";
import type { Account } from "../../support/inventory.ts";
import type { Tagged } from "./tags.ts";

/** These volumes are encrypted with the key. */
export async function expectVolumeKey({ ec2 }: Account, volumes: readonly Tagged[], key: string): Promise<void> {
  const keys: (string | undefined)[] = [];
  const VolumeIds = volumes.map(({ id }) => id);
  for await (const { Volumes = [] } of paginateDescribeVolumes({ client: ec2 }, { VolumeIds }))
    keys.push(...Volumes.map(({ KmsKeyId }) => KmsKeyId));
  expect(keys).toEqual(volumes.map(() => key));
}
