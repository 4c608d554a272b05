import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
  at.write("spokes/fleet/blue/secrets/gitops-system.yaml", "kind: SealedSecret\n");
  at.write("spokes/fleet/green/spoke.yaml", spokeText("green"));
  at.write("clusters/blue/shop/namespace.yaml", "kind: Namespace\n", at.workloads);
  at.write("clusters/green/shop/namespace.yaml", "kind: Namespace\n", at.workloads);
});
afterEach(() => at.remove());

const remove = (...argv: string[]) => at.run("remove", "blue", ...argv);
const stands = () => at.has("spokes/fleet/blue/spoke.yaml") && at.has("clusters/blue/shop", at.workloads);

describe("fleet remove", () => {
  test("removes the folders of the spoke and of its applications, and no other", async () => {
    const { code, said } = await remove("--yes");
    expect(code).toBe(0);
    expect([at.has("spokes/fleet/blue"), at.has("clusters/blue", at.workloads)]).toEqual([false, false]);
    expect([at.has("spokes/fleet/green/spoke.yaml"), at.has("clusters/green/shop", at.workloads)]).toEqual([
      true,
      true,
    ]);
    expect(at.has("spokes/fleet/README.md"), "without the folder Flux would have nothing to compare with").toBe(true);
    expect(said).toContain('git add spokes/fleet/blue && git commit -m "Remove spoke blue"');
    expect(said).toContain('git add clusters/blue && git commit -m "Remove the applications of spoke blue"');
  });

  test("says what goes in AWS, in which order, and what stays", async () => {
    at.write("spokes/fleet/blue/spoke.yaml", spokeText("blue", "  sealing: cluster\n  kmsDeletionWindowDays: 7\n"));
    const { said } = await remove("--dry-run");
    expect(said).toMatch(
      /applications \(shop\)[\s\S]*nodes[\s\S]*control plane[\s\S]*log group[\s\S]*VPC[\s\S]*What stays/,
    );
    expect(said).toContain("the KMS key of its Kubernetes secrets, which can't be used any more, for 7 days");
    expect(said).toContain("take cluster-blue out of sealingKeys");
    expect(said).toContain("--- a/clusters/blue/shop/namespace.yaml\n+++ /dev/null");
    expect(stands()).toBe(true);
  });

  test("says of a cluster that Cluster API makes who removes it and when, and that its key stays for others", async () => {
    at.write("spokes/fleet/blue/spoke.yaml", spokeText("blue", "  existing:\n    madeBy: ClusterAPI\n"));
    const { said } = await remove("--yes");
    expect(said).toMatch(
      /then the Spoke; Flux uninstalls[\s\S]*nodes[\s\S]*VPC, all by Cluster API[\s\S]*log group[\s\S]*What stays/,
    );
    expect(said).toContain("which is that of all clusters that Cluster API makes");
    expect(said).not.toMatch(/can't be used any more|block of the pool/);
    expect(said).toContain("kubectl -n cluster-api-clusters get clusters,");
  });

  test("keeps the key for as long as the Spoke API says by default", async () => {
    expect((await remove("--dry-run")).said).toContain("for 30 days");
  });

  test("refuses while the deletion protection is on, without --yes, and tells both at once", async () => {
    at.write("spokes/fleet/blue/spoke.yaml", spokeText("blue", "  deletionProtection: true\n"));
    const { code, said } = await remove();
    expect(code).toBe(2);
    expect(said).toMatch(/^2 problems in fleet remove/);
    expect(said).toContain("--yes: is missing");
    expect(said).toContain("<spoke>: is protected: the hub would refuse to delete it");
    expect(said).toContain("fleet protect blue --off --push");
    expect((await remove("--dry-run")).code, "a dry run would show what is refused").toBe(2);
    expect(stands()).toBe(true);
  });

  test("removes the spoke alone where there is no checkout of gitops-workloads, and says what is left to do there", async () => {
    rmSync(at.workloads, { recursive: true });
    const { code, said } = await remove("--yes");
    expect([code, said]).toEqual([0, expect.stringContaining("a spoke that is made again as blue would run")]);
    expect(at.has("spokes/fleet/blue")).toBe(false);
    expect((await at.run("remove", "green", "--yes", "--workloads", at.folder)).said).toContain(
      "--workloads: is not a checkout of gitops-workloads",
    );
  });

  test("leaves applications alone that may be of another fleet's spoke with the same name", async () => {
    at.write("spokes/other/blue/spoke.yaml", spokeText("blue"));
    expect((await remove("--yes", "--fleet", "other")).said).toContain("no checkout of gitops-workloads was changed");
    expect(stands()).toBe(true);
    await remove("--yes", "--workloads", at.workloads);
    expect(at.has("clusters/blue", at.workloads)).toBe(false);
  });

  test("refuses a spoke that is not there", async () => {
    expect((await at.run("remove", "red", "--yes")).said).toContain("<spoke>: is not the name of a spoke");
  });
});
