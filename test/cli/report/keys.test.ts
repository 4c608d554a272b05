import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deployKeys, sealingKeys } from "../../../cli/report/keys.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { certificate } from "../support/fleet.ts";

const checkout = temporaryFolder("fleet-report-keys");
test("each sealing key has its age and its end, and says whether it seals", async () => {
  const [first, second] = await Promise.all([certificate(), certificate({ notAfter: new Date("2030-05-01") })]);
  const outputs = { sealingCertificates: { dev: { 1: first, 2: second } }, activeSealingKeys: { dev: "2" } };
  expect(sealingKeys(outputs)).toMatchObject([
    { name: "sealing key of dev, generation 1", scope: "dev", use: "only opens" },
    { name: "sealing key of dev, generation 2", scope: "dev", ends: "2030-05-01T00:00:00.000Z", use: "seals" },
  ]);
});

test("a deploy key that a SealedSecret notes with a day has its age; the fleet's own has none, and nothing secret is told", () => {
  const sealed = (name: string, notes: string) =>
    `apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata:\n  name: ${name}\n  namespace: shop\n  annotations:\n${notes}---\n`;
  const key = "    fleet.internal/deploy-key: ssh-ed25519";
  writeFileSync(
    join(checkout, "secrets.yaml"),
    sealed("green", `${key} Z3JlZW4= green@fleet\n    fleet.internal/deploy-key-made: 2020-01-30\n`) +
      sealed("fleet", `${key} ZmxlZXQ=\n`) +
      sealed("odd", `${key} b2Rk odd@fleet\n    fleet.internal/deploy-key-made: yesterday\n`),
  );
  expect(deployKeys([checkout])).toEqual([
    {
      ...{ name: "deploy key of green@fleet", scope: undefined, ends: undefined, use: "in use" },
      made: "2020-01-30T00:00:00.000Z",
    },
  ]);
});
