import { describe, expect, test } from "vitest";
import { kubernetesVersions } from "../../components/versions.ts";
import { offeredVersions, outOfOrder } from "./upgrade.ts";

const cluster = (version: string) => ({
  kind: "Cluster",
  metadata: { name: "c" },
  status: { atProvider: { version } },
});
const addon = (addonName: string, addonVersion?: string) => ({
  kind: "Addon",
  metadata: { name: addonName },
  spec: { forProvider: { addonName } },
  ...(addonVersion === undefined ? {} : { status: { atProvider: { addonVersion } } }),
});
const nodes = (version: string) => ({ kind: "NodeGroup", metadata: { name: "n" }, spec: { forProvider: { version } } });
const found = (...objects: object[]) => outOfOrder(objects, "1.36", { coredns: "v2" });

describe("the order of an upgrade", () => {
  test("is kept before, between and after its steps", () => {
    expect(found(cluster("1.35"), addon("coredns", "v1"), nodes("1.35"))).toEqual([]);
    expect(found(cluster("1.36"), addon("coredns", "v1"), nodes("1.35"))).toEqual([]);
    expect(found(cluster("1.36"), addon("coredns", "v2"), addon("other", "v1"), nodes("1.36"))).toEqual([]);
  });

  test("is broken by nodes that come before the control plane or before an add-on", () => {
    expect(found(cluster("1.35"), addon("coredns", "v2"), nodes("1.36"))).toEqual([
      "node group n is asked for 1.36 before the control plane runs it",
    ]);
    expect(found(cluster("1.36"), addon("coredns", "v1"), nodes("1.36"))).toEqual([
      "node group n is asked for 1.36 before add-on coredns is up to date",
    ]);
    expect(found(cluster("1.36"), addon("coredns"), nodes("1.36"))).toHaveLength(1);
  });
});

test("the versions on offer are those of the program, with the versions of their add-ons", () => {
  const offered = offeredVersions();
  expect(offered.map(([minor]) => minor)).toEqual(kubernetesVersions);
  const named = offered.filter(([, addons]) => Object.keys(addons).length > 0);
  expect(named.length).toBeGreaterThan(0);
  for (const [, addons] of named)
    expect(Object.keys(addons)).toEqual(["vpc-cni", "kube-proxy", "coredns", "aws-ebs-csi-driver"]);
});
