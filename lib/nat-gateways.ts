/** How many NAT gateways a network with this choice has. */
export const natGatewayCount = (choice: "single" | "per-zone" | "none" | "isolated", zones: number): number =>
  ({ single: 1, "per-zone": zones, none: 0, isolated: 0 })[choice];
