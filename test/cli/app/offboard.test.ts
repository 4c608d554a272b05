import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
const sync = (url: string) =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: shop }\nspec:\n  url: ${url}\n`;
const sealed = (owner: string, notes = "") =>
  `kind: SealedSecret\nmetadata:\n  annotations:\n    fleet.internal/deploy-key: ssh-ed25519 AAAA ${owner}\n${notes}`;
function onboard(cluster: string, app: string, url = "ssh://git@example.com/shop.git"): void {
  at.write(`clusters/${cluster}/${app}/sync.yaml`, sync(url), at.workloads);
  at.write(`clusters/${cluster}/${app}/credential.yaml`, sealed(`${app}@${cluster}`), at.workloads);
}

beforeEach(() => {
  at = new SpokesCheckout();
  onboard("blue", "shop");
  onboard("blue", "search");
  onboard("green", "shop");
});
afterEach(() => at.remove());

const offboard = (...argv: string[]) => at.runIn(at.workloads, "offboard", ...argv);
const has = (path: string) => at.has(path, at.workloads);

describe("fleet offboard", () => {
  test("removes the application's folder on the cluster, and no other", async () => {
    const { code, said } = await offboard("shop", "--cluster", "blue", "--yes");
    expect(code).toBe(0);
    expect([has("clusters/blue/shop"), has("clusters/blue/search"), has("clusters/green/shop")]).toEqual([
      false,
      true,
      true,
    ]);
    expect(said).toContain('git add clusters/blue/shop && git commit -m "Offboard shop from blue"');
  });

  test("removes it from several clusters in one commit", async () => {
    const { said } = await offboard("shop", "--cluster", "blue", "--cluster", "green", "--yes");
    expect([has("clusters/blue/shop"), has("clusters/green")]).toEqual([false, false]);
    expect(said).toContain("Offboard shop from blue, green");
  });

  test("says what goes in AWS, what stays, and what is left at the Git host and in gitops-system", async () => {
    at.write("clusters/blue/shop/receiver/receiver.yaml", "kind: Receiver\n", at.workloads);
    const team = "  teams:\n    - name: shoppers\n      namespaces: [shop]\n      members: []\n";
    at.write("spokes/fleet/blue/spoke.yaml", spokeText("blue", team));
    const { code, said } = await offboard("shop", "--cluster", "blue", "--yes");
    expect(code).toBe(0);
    expect(said).toContain("with what it ordered in AWS: tables with their data, queues");
    expect(said).toMatch(/What stays in AWS:[\s\S]*managementPolicies[\s\S]*\$DeletedTableBackup, for 35 days/);
    expect(said).toContain("remove the deploy key shop@blue at ssh://git@example.com/shop.git");
    expect(said).toContain("remove the webhook for shop on blue");
    expect(said).toContain("take shop out of the team shoppers in spokes/fleet/blue/spoke.yaml");
  });

  test("names each deploy key that is registered while one takes the place of another", async () => {
    const former = "    fleet.internal/former-deploy-key: ssh-ed25519 AAAA shop@blue\n";
    at.write("clusters/blue/shop/next/credential.yaml", sealed("shop@blue 2026", former), at.workloads);
    const { said } = await offboard("shop", "--cluster", "blue", "--yes");
    expect([...said.matchAll(/remove the deploy key (.*) at /g)].map(([, name]) => name)).toEqual([
      "shop@blue",
      "shop@blue 2026",
    ]);
  });

  test("names the key that commits new images, which may write, beside the one that reads", async () => {
    at.write("clusters/blue/shop/auto-update/images/credential.yaml", sealed("shop-auto-update@blue"), at.workloads);
    const { said } = await offboard("shop", "--cluster", "blue", "--yes");
    expect([...said.matchAll(/remove the deploy key (.*) at /g)].map(([, name]) => name)).toEqual([
      "shop@blue",
      "shop-auto-update@blue",
    ]);
  });

  test("names no deploy key of a repository over HTTPS", async () => {
    onboard("blue", "shop", "https://example.com/shop.git");
    expect((await offboard("shop", "--cluster", "blue", "--yes")).said).not.toContain("deploy key");
  });

  test("refuses what is not there and what is not confirmed, all at once, and writes nothing", async () => {
    const { code, said } = await offboard("shoop", "--cluster", "blue", "--cluster", "blu");
    expect(code).toBe(2);
    expect(said).toMatch(/^3 problems in fleet offboard/);
    for (const part of ["--yes: is missing", "did you mean shop?", "did you mean blue?"]) expect(said).toContain(part);
    expect((await offboard("..", "--cluster", "blue", "--yes")).said).toContain("<app>: has an unknown value");
    expect(has("clusters/blue/shop/sync.yaml")).toBe(true);
  });

  test("refuses a folder that is no checkout of gitops-workloads", async () => {
    expect((await at.run("offboard", "shop", "--cluster", "blue", "--yes")).said).toContain(
      "--repository: is not a checkout of gitops-workloads",
    );
  });
});
