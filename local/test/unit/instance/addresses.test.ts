import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clusterAt, instanceAt, MAX_CLUSTERS, MAX_INSTANCES, MAX_NODES, nodeAt } from "../../../instance/addresses.ts";

const indexes = fc.integer({ min: 0, max: MAX_INSTANCES - 1 });
const clusters = fc.integer({ min: 0, max: MAX_CLUSTERS - 1 });
const nodes = fc.integer({ min: 0, max: MAX_NODES - 1 });

const number = (address: string) => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);

function contains(cidr: string, inner: string): boolean {
  const [base = "", bits] = cidr.split("/");
  const size = 2 ** (32 - Number(bits));
  const at = number(inner.split("/")[0] ?? "");
  return at >= number(base) && at < number(base) + size;
}

describe("addresses of an instance", () => {
  test("the first instance has the addresses that the documentation names", () => {
    const instance = instanceAt("/work/.local", 0);
    const cluster = clusterAt(instance, "hub", 0);
    expect(instance.gatewayAddress).toBe("100.64.255.1");
    expect(instance.loopbackAddress).toBe("127.100.0.1");
    expect(instance.awsEndpoint).toBe("http://100.64.255.1:4566");
    expect(cluster.endpoint).toBe("https://100.64.254.1");
    expect(cluster.serviceCidr).toBe("100.64.1.0/24");
    expect(cluster.dnsAddress).toBe("100.64.1.10");
    expect(nodeAt(instance, cluster, 1)).toMatchObject({
      namespace: "fleet-0-hub-1",
      hostAddress: "100.64.0.5",
      address: "100.64.0.6",
      podCidr: "100.64.5.0/24",
    });
  });

  test("everything of an instance lies in its own range, and pods in their cluster's", () => {
    fc.assert(
      fc.property(indexes, clusters, nodes, (i, c, n) => {
        const instance = instanceAt("/x", i);
        const cluster = clusterAt(instance, "c", c);
        const node = nodeAt(instance, cluster, n);
        const addresses = [
          instance.gatewayAddress,
          cluster.apiAddress,
          cluster.serviceCidr,
          cluster.podCidr,
          node.address,
        ];
        for (const address of addresses) expect(contains(instance.cidr, address)).toBe(true);
        expect(contains("100.64.0.0/10", instance.cidr)).toBe(true);
        expect(contains(cluster.podCidr, node.podCidr)).toBe(true);
        expect(contains(cluster.serviceCidr, cluster.dnsAddress)).toBe(true);
      }),
    );
  });

  test("no two clusters or nodes share an address, a range or a kernel name", () => {
    const seen = new Set<string>();
    const take = (...names: string[]) => {
      for (const name of names) {
        expect(seen, name).not.toContain(name);
        seen.add(name);
      }
    };
    for (let i = 0; i < MAX_INSTANCES; i += 31) {
      const instance = instanceAt("/x", i);
      take(instance.gatewayAddress, instance.loopbackAddress, instance.kernel.cgroup, instance.kernel.linkPrefix);
      for (let c = 0; c < MAX_CLUSTERS; c++) {
        const cluster = clusterAt(instance, `cluster-${c}`, c);
        take(cluster.apiAddress, cluster.loopbackAddress, cluster.serviceCidr, cluster.podCidr, cluster.etcdPrefix + i);
        for (let n = 0; n < MAX_NODES; n++) {
          const node = nodeAt(instance, cluster, n);
          take(node.address, node.hostAddress, node.namespace, node.cgroup, node.link, `${node.podCidr} of a node`);
        }
      }
    }
  });

  test("names fit the kernel's limits in any directory: 15 characters for a link, 107 for a socket, 255 for a file", () => {
    const instance = instanceAt(`/${"x".repeat(250)}`, MAX_INSTANCES - 1);
    const cluster = clusterAt(instance, `${"c".repeat(100)}.123456789012`, MAX_CLUSTERS - 1);
    const node = nodeAt(instance, cluster, MAX_NODES - 1);
    expect(node.link.length).toBeLessThanOrEqual(15);
    for (const socket of ["containerd.sock.ttrpc", "kubelet/plugins_registry/efs.csi.aws.com-reg.sock"])
      expect(join(node.run, socket).length).toBeLessThanOrEqual(107);
    // libcni names a file after the namespace, a sandbox and an interface.
    expect(`${node.namespace}-${"0".repeat(64)}-eth0`.length).toBeLessThanOrEqual(255);
  });

  test("clusters of one name in several accounts have folders, processes and keys of their own", () => {
    const instance = instanceAt("/x", 0);
    const [hubs, others] = ["same", "same.222222222222"].map((name, number) => clusterAt(instance, name, number));
    expect([hubs?.dir, hubs?.etcdPrefix]).toEqual([join(instance.paths.clusters, "same"), "/clusters/same"]);
    expect([others?.dir, others?.etcdPrefix]).toEqual([
      join(instance.paths.clusters, "same.222222222222"),
      "/clusters/same.222222222222",
    ]);
  });

  test("what is out of range is refused, with what is allowed", () => {
    const instance = instanceAt("/x", 0);
    expect(() => instanceAt("/x", 63)).toThrow("instance index: got 63, allowed are whole numbers from 0 to 62");
    expect(() => instanceAt("/x", 0.5)).toThrow("got 0.5");
    expect(() => clusterAt(instance, "hub", 31)).toThrow(
      "number of cluster hub: got 31, allowed are whole numbers from 0 to 30",
    );
    expect(() => nodeAt(instance, clusterAt(instance, "hub", 0), 4)).toThrow("number of a node of cluster hub: got 4");
    for (const name of ["", "-a", "a/b", "..", "a.b", "a.22222222222", "a.222222222222.b", "x".repeat(101)])
      expect(() => clusterAt(instance, name, 0), name).toThrow("cluster name: got");
  });
});
