import { expect, test } from "vitest";
import { instanceAt } from "../../../instance/addresses.ts";
import { filter, translation } from "../../../instance/endpoints.ts";

const instance = instanceAt("/instance", 3);

test("who is not admitted to an endpoint gets no answer, in the order in which sources are named", () => {
  const sources = [
    { cidr: "100.67.0.0/21", admitted: true },
    { cidr: "100.67.8.0/21", admitted: false },
  ];
  expect(
    filter(instance, [{ address: "100.67.254.1", sources }]),
  ).toBe(`add chain inet fleet_3_endpoints access { type filter hook input priority filter ; }
flush chain inet fleet_3_endpoints access
add rule inet fleet_3_endpoints access ct original ip daddr 100.67.254.1 ip saddr 100.67.0.0/21 accept
add rule inet fleet_3_endpoints access ct original ip daddr 100.67.254.1 ip saddr 100.67.8.0/21 drop
add rule inet fleet_3_endpoints access ct original ip daddr 100.67.254.1 drop
`);
});

test("nodes do not reach API servers past their endpoints", () => {
  expect(translation(instance)).toContain('internal iifname "fl3c*" ct original ip daddr 100.67.253.0/24 drop');
});
