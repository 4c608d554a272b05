import { expect, test } from "vitest";
import { nodeReleasesPolicy } from "../../../lib/iam/node-releases.ts";

test("the policy of fleet node-releases is what docs/deployer-policy/fleet-node-releases.json shows", async () => {
  await expect(`${JSON.stringify(nodeReleasesPolicy("aws"), undefined, 2)}\n`).toMatchFileSnapshot(
    "../../../docs/deployer-policy/fleet-node-releases.json",
  );
});
