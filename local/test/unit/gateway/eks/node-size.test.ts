import { describe, expect, test } from "vitest";
import { reservedOn } from "../../../../gateway/eks/node-size.ts";

const large = { cpus: 2, memoryMib: 8192 };

describe("what a node reserves of its machine", () => {
  test("leaves as much to pods as an instance of its type does", () => {
    // Karpenter's page "Instance Types": m5.large has 1930m and 6903Mi; 8192 less 7.5 % are 7577.
    const { kubeReserved, systemReserved } = reservedOn(large, { maxPods: 29 }, { cpus: 16, memoryMib: 65_536 });
    expect(kubeReserved).toEqual({ cpu: "70m", memory: "574Mi" });
    expect(systemReserved).toEqual({ cpu: "14000m", memory: `${65_536 - 7577 + 100}Mi` });
    expect(16_000 - 70 - 14_000).toBe(1930);
    expect(65_536 - 574 - (65_536 - 7577 + 100)).toBe(6903);
  });

  test("takes nothing more than that of a machine that has less", () =>
    expect(reservedOn(large, {}, { cpus: 2, memoryMib: 4096 }).systemReserved).toEqual({ cpu: "0m", memory: "100Mi" }));

  test("counts shares of further processors, as nodeadm does", () =>
    expect(reservedOn({ cpus: 8, memoryMib: 32_768 }, { maxPods: 58 }, large).kubeReserved).toEqual({
      cpu: "90m",
      memory: "893Mi",
    }));

  test("heeds what the NodeConfig says", () => {
    const asked = { kubeReserved: { cpu: "200m" }, systemReserved: { cpu: "0.5", memory: "1Gi" } };
    expect(reservedOn(large, asked, { cpus: 4, memoryMib: 7577 })).toEqual({
      kubeReserved: { cpu: "200m", memory: "574Mi" },
      systemReserved: { cpu: "2500m", memory: "1124Mi" },
    });
    expect(() => reservedOn(large, { systemReserved: { cpu: "much" } })).toThrow("got the quantity much");
  });
});
