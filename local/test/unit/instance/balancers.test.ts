import { expect, test } from "vitest";
import { instanceAt } from "../../../instance/addresses.ts";
import { nodeTranslation, sourceOf } from "../../../instance/balancers.ts";

const instance = instanceAt("/tmp/fleet", 2);

test("a node sees a load balancer by its address in the VPC, and answers find back to this machine's", () => {
  const publicAddress = "100.66.252.7";
  expect(sourceOf(instance, publicAddress)).toBe("100.66.251.7");
  const rules = nodeTranslation(instance, [{ publicAddress, privateAddress: "10.0.48.9" }]);
  expect(rules).toContain('iifname "eth0" ip saddr 100.66.251.7 ip saddr set 10.0.48.9\n');
  expect(rules).toContain('oifname "eth0" ct direction reply ip daddr 10.0.48.9 ip daddr set 100.66.251.7\n');
});

test("addresses of load balancers are the instance's own, and none of its clusters", () => {
  const { publicCidr, sourceCidr } = instance.balancers;
  expect([publicCidr, sourceCidr]).toEqual(["100.66.252.0/24", "100.66.251.0/24"]);
  expect(nodeTranslation(instance, [])).not.toContain("saddr");
});
