import { partitionOf } from "../iam/policy.ts";
import { instanceHour, type Price, volumeMonth } from "./prices.ts";
import { endpointHours, endpointOf, monthHours, natGatewayHours, natGatewayOf, rates, ratesOf } from "./rates.ts";

/** Nodes of one kind. */
export interface NodesShape {
  /** In order of preference: the first one is counted. */
  readonly instanceTypes: readonly string[];
  /** GiB of all volumes of one node. */
  readonly diskSize: number;
  readonly min: number;
  readonly desired: number;
  readonly max: number;
  /** Whether each has a public address. */
  readonly arePublic: boolean;
}

/** What a cluster has that costs something, whether or not it works. */
export interface ClusterShape {
  readonly region: string;
  /** Its groups of nodes. Undefined where what makes the cluster decides on nodes and network; `natGateways` and `endpointZones` are 0 then. */
  readonly nodes?: readonly NodesShape[];
  /** Whether EKS Auto Mode decides on the nodes: as many as pods need, at a fee for each; `nodes` is empty then. */
  readonly isAuto?: boolean;
  readonly natGateways: number;
  /** Interface endpoints, each counted in every zone that it is in. */
  readonly endpointZones: number;
  /** In KMS. */
  readonly keys: number;
  /** In Secrets Manager. */
  readonly secrets: number;
}

/** US dollars a month, for as many nodes as there are to be, and for the fewest and the most. */
export interface Amount {
  readonly least: number;
  readonly usual: number;
  readonly most: number;
}

export const items = [
  "controlPlane",
  "nodes",
  "volumes",
  "natGateways",
  "endpoints",
  "addresses",
  "keys",
  "secrets",
] as const;
type Item = (typeof items)[number];

type Publication = Pick<Price, "source" | "date">;

export interface ClusterCost {
  readonly month: Amount;
  /** What `month` consists of; an item of which nothing is known is missing, one that the cluster has none of is 0. */
  readonly items: Readonly<Partial<Record<Item, Amount>>>;
  /** What is not in `month`, as `price unknown for m9x.large in xx-east-1`. */
  readonly unknown: readonly string[];
  /** Instance types whose price was worked out from another size of their family. */
  readonly workedOut: readonly string[];
  /** The publications of the prices that went in, the oldest first. */
  readonly sources: readonly Publication[];
}

/** Each publication once, the oldest first. */
export function publicationsOf(of: readonly Publication[]): Publication[] {
  const byText = new Map(of.map(({ date, source }) => [`${date} ${source}`, { source, date }]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** A price, and how many of it there are. */
interface Line {
  readonly item: Item;
  /** For `price unknown for …`. */
  readonly what: string;
  /** For one month. */
  readonly price: Price | undefined;
  readonly count: Amount;
}

const constant = (count: number): Amount => ({ least: count, usual: count, most: count });
const mapped = ({ least, usual, most }: Amount, change: (count: number) => number): Amount => ({
  least: change(least),
  usual: change(usual),
  most: change(most),
});

export const sum = (amounts: readonly Amount[]): Amount => ({
  least: amounts.reduce((all, { least }) => all + least, 0),
  usual: amounts.reduce((all, { usual }) => all + usual, 0),
  most: amounts.reduce((all, { most }) => all + most, 0),
});

const hourly = (price: Price | undefined): Price | undefined => price && { ...price, usd: price.usd * monthHours };

/** One of the prices that are the same in all regions of the partition `aws`. */
const common = (usd: number, region: string): Price | undefined =>
  partitionOf(region) === "aws" ? { usd, ...ratesOf, isWorkedOut: false } : undefined;

function priceOf(hours: Readonly<Record<string, number>>, of: Publication, region: string): Price | undefined {
  const usd = Object.hasOwn(hours, region) ? hours[region] : undefined;
  return usd === undefined ? undefined : { usd, ...of, isWorkedOut: false };
}

const countOf = ({ min, desired, max }: NodesShape): Amount => ({ least: min, usual: desired, most: max });

function groupLines(region: string, nodes: NodesShape): Line[] {
  const [type = "nodes"] = nodes.instanceTypes;
  const count = countOf(nodes);
  const gibibytes = mapped(count, (all) => all * nodes.diskSize);
  return [
    { item: "nodes", what: type, price: hourly(instanceHour(type, region)), count },
    { item: "volumes", what: "gp3 volumes", price: volumeMonth(region), count: gibibytes },
  ];
}

function networkLines({ region, natGateways, endpointZones }: ClusterShape, groups: readonly NodesShape[]): Line[] {
  const inPublic = groups.filter(({ arePublic }) => arePublic).map(countOf);
  return [
    {
      item: "natGateways",
      what: "NAT gateways",
      price: hourly(priceOf(natGatewayHours, natGatewayOf, region)),
      count: constant(natGateways),
    },
    {
      item: "endpoints",
      what: "interface endpoints",
      price: hourly(priceOf(endpointHours, endpointOf, region)),
      count: constant(endpointZones),
    },
    {
      item: "addresses",
      what: "public IPv4 addresses",
      price: hourly(common(rates.addressHour, region)),
      count: sum([...inPublic, constant(natGateways)]),
    },
  ];
}

/** Nodes and network of a cluster that Cluster API makes, as one price that is not known. */
const elsewhereLines = (): Line[] =>
  (["nodes", "volumes", "natGateways", "endpoints", "addresses"] as const).map((item) => ({
    item,
    what: "nodes and network of its HelmRelease",
    price: undefined,
    count: constant(1),
  }));

/** Nodes of EKS Auto Mode with their fees and volumes, as one price that is not known. */
const autoLines = ({ isAuto = false }: ClusterShape): Line[] =>
  (isAuto ? (["nodes", "volumes"] as const) : []).map((item) => ({
    item,
    what: "nodes of EKS Auto Mode",
    price: undefined,
    count: constant(1),
  }));

const linesOf = (shape: ClusterShape, { region, nodes, keys, secrets } = shape): Line[] => [
  {
    item: "controlPlane",
    what: "EKS control planes",
    price: hourly(common(rates.controlPlaneHour, region)),
    count: constant(1),
  },
  ...(nodes === undefined
    ? elsewhereLines()
    : [...nodes.flatMap((group) => groupLines(region, group)), ...autoLines(shape), ...networkLines(shape, nodes)]),
  { item: "keys", what: "KMS keys", price: common(rates.keyMonth, region), count: constant(keys) },
  { item: "secrets", what: "secrets", price: common(rates.secretMonth, region), count: constant(secrets) },
];

/** What a cluster costs in a month by list prices: on demand, without traffic, logs, and what applications order. */
export function clusterCost(shape: ClusterShape): ClusterCost {
  const lines = linesOf(shape).filter(({ count }) => count.most !== 0);
  const known = lines.flatMap((line) => (line.price === undefined ? [] : [{ ...line, price: line.price }]));
  const amounts = known.map(({ item, price, count }) => [item, mapped(count, (all) => all * price.usd)] as const);
  const totals = [...Map.groupBy(amounts, ([item]) => item)].map(([item, its]) => [
    item,
    sum(its.map(([, amount]) => amount)),
  ]);
  const none = items.filter((item) => !lines.some((line) => line.item === item)).map((item) => [item, constant(0)]);
  const unknown = lines.filter(({ price }) => price === undefined);
  return {
    month: sum(amounts.map(([, amount]) => amount)),
    items: Object.fromEntries([...totals, ...none]),
    unknown: [...new Set(unknown.map(({ what }) => `price unknown for ${what} in ${shape.region}`))],
    workedOut: [
      ...new Set(known.flatMap(({ what, price }) => (price.isWorkedOut ? [`${what} in ${shape.region}`] : []))),
    ],
    sources: publicationsOf(known.map(({ price }) => price)),
  };
}
