import { describe, expect, test } from "vitest";
import { hub, spoke } from "./support/fixtures.ts";
import { running, settled, type World } from "./support/world.ts";

const withServices = (serviceIpv4Cidr: string, spec: object = {}) => spoke({ network: { serviceIpv4Cidr }, ...spec });
const network = (world: World) => world.forProvider("cluster")["kubernetesNetworkConfig"];

describe("a block of a spoke's Services", () => {
  test("is EKS's choice unless the Spoke names one", () => expect(network(running(spoke()))).toBeUndefined());

  test("is that of the Spoke, with EKS Auto Mode too", () => {
    expect(network(running(withServices("172.20.0.0/16")))).toEqual({ serviceIpv4Cidr: "172.20.0.0/16" });
    expect(network(running(withServices("172.20.0.0/16", { compute: "auto" })))).toEqual({
      elasticLoadBalancing: { enabled: true },
      serviceIpv4Cidr: "172.20.0.0/16",
    });
  });

  test("is not in the block that the pool gives the VPC", () => {
    const small = { ...hub, spokeCidrPool: "10.64.0.0/17" };
    const world = settled(withServices("10.64.0.0/18"), { hub: small });
    expect(world.forProvider("vpc")["cidrBlock"]).toBe("10.64.64.0/18");
  });
});
