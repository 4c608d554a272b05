import { instanceHour, volumeMonth } from "../../lib/costs/prices.ts";
import { monthHours, natGatewayHours, rates } from "../../lib/costs/rates.ts";

/** What there is of what AWS takes money for. */
export interface Billed {
  /** EKS control planes. */
  readonly clusters: number;
  readonly natGateways: number;
  /** Public IPv4 addresses. */
  readonly addresses: number;
  /** EC2 instance types, one for each node. */
  readonly nodes: readonly string[];
  /** Root volumes of the nodes together, gp3. */
  readonly gib: number;
  readonly keys: number;
  readonly secrets: number;
}

/** Something that ran for a time. */
export interface Use {
  readonly what: string;
  readonly hours: number;
  readonly billed: Billed;
}

const region = "us-east-1";

/** US dollars an hour, list prices of us-east-1. */
const prices = {
  cluster: rates.controlPlaneHour,
  natGateway: natGatewayHours[region],
  address: rates.addressHour,
  gib: (volumeMonth(region)?.usd ?? Number.NaN) / monthHours,
  key: rates.keyMonth / monthHours,
  secret: rates.secretMonth / monthHours,
} as const;

/** One line of an estimate. */
export interface Line {
  readonly what: string;
  readonly count: number;
  readonly hours: number;
  /** US dollars an hour for one; undefined where the table has none. */
  readonly price: number | undefined;
}

/** What a use consists of, by unit price; what there is none of is left out. */
function linesOf({ what, hours, billed }: Use): Line[] {
  const types = [...new Set(billed.nodes)].sort();
  const line = (unit: string, count: number, price: number | undefined) => ({
    what: `${what}: ${unit}`,
    count,
    hours,
    price,
  });
  return [
    line("EKS control plane", billed.clusters, prices.cluster),
    ...types.map((type) =>
      line(`node ${type}`, billed.nodes.filter((each) => each === type).length, instanceHour(type, region)?.usd),
    ),
    line("GiB gp3", billed.gib, prices.gib),
    line("NAT gateway", billed.natGateways, prices.natGateway),
    line("public IPv4 address", billed.addresses, prices.address),
    line("KMS key", billed.keys, prices.key),
    line("secret", billed.secrets, prices.secret),
  ].filter(({ count }) => count > 0);
}

/** What uses cost together, line by line; `unpriced` names what is not in the sum. */
export function estimate(uses: readonly Use[]): {
  readonly lines: readonly Line[];
  readonly total: number;
  readonly unpriced: readonly string[];
} {
  const lines = uses.flatMap(linesOf);
  return {
    lines,
    total: lines.reduce((sum, { count, hours, price = 0 }) => sum + count * hours * price, 0),
    unpriced: lines.filter(({ price }) => price === undefined).map(({ what }) => what),
  };
}
