import { describe, expect, test } from "vitest";
import { networkAt } from "../../support/pod-network.ts";
import { claimPolicyAddresses } from "../../support/policy-addresses.ts";

describe("the network of tests of NetworkPolicies", () => {
  test("has addresses of its own beside another run's, and gives them back", async () => {
    const [one, other] = [await claimPolicyAddresses(), await claimPolicyAddresses()];
    expect(new Set([one.host, one.node, one.gateway, other.host, other.node, other.gateway]).size).toBe(6);
    expect(one.podRange).not.toBe(other.podRange);
    expect(one.pod(1)).toBe(one.gateway.replace(/\.1$/, ".2"));
    await one.release();
    const again = await claimPolicyAddresses();
    await Promise.all([again.release(), other.release()]);
    expect(again.host).toBe(one.host);
  });
});

describe.skipIf(process.getuid?.() !== 0)("a listener of these tests", () => {
  const network = networkAt("/proc/self/ns/net");
  const address = "127.100.99.1";

  test("listens when it is there", async () => {
    const listener = await network.listen(address, 18081, 18082);
    try {
      expect(await network.connect(address, 18082)).toBe("open");
      expect(await network.datagram(address, 18081)).toBe("answered");
    } finally {
      listener.kill();
    }
  });

  test("says when it can't listen", async () => {
    await expect(network.listen("192.0.2.1", 18081)).rejects.toThrow("nothing listens on 192.0.2.1 18081");
  });
});
