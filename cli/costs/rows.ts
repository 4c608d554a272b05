import { type Amount, type ClusterCost, type ClusterShape, clusterCost, items, sum } from "../../lib/costs/cluster.ts";

interface NodeCount {
  readonly min: number;
  readonly desired: number;
  readonly max: number;
}

/** One cluster of a fleet, as `-o json` and `-o yaml` write it; amounts are US dollars a month, to the cent. */
export interface Row extends ClusterCost {
  /** That of the spoke, or hub. */
  readonly name: string;
  readonly fleet: string;
  readonly environment: string;
  readonly tenant: string;
  readonly region: string;
  /** The instance type that is counted; undefined where there are several groups of nodes. */
  readonly instanceType: string | undefined;
  /** Of all groups. Undefined of a cluster that Cluster API makes: its HelmRelease says it. */
  readonly nodes: NodeCount | undefined;
  /** Where there are several. */
  readonly nodeGroups?: readonly (NodeCount & { readonly instanceType: string | undefined })[];
  /** Whether EKS Auto Mode decides on the nodes, of which `nodes` then counts none. */
  readonly isAuto?: true;
  /** Whether every price is known. */
  readonly isComplete: boolean;
}

/** What all clusters with something in common cost together. */
export interface Sum {
  readonly name: string;
  readonly clusters: number;
  readonly month: Amount;
  /** Whether every price is known. */
  readonly isComplete: boolean;
}

export interface Costs {
  readonly clusters: readonly Row[];
  readonly environments: readonly Sum[];
  readonly tenants: readonly Sum[];
  readonly total: Sum;
}

/** To the cent. */
export const cents = (usd: number): number => Math.round(usd * 100) / 100;

const toTheCent = ({ least, usual, most }: Amount): Amount => ({
  least: cents(least),
  usual: cents(usual),
  most: cents(most),
});

/** @param of whose cluster it is */
export function rowOf(of: Pick<Row, "name" | "fleet" | "environment" | "tenant">, shape: ClusterShape): Row {
  const cost = clusterCost(shape);
  const groups = shape.nodes?.map(({ instanceTypes: [instanceType], min, desired, max }) => {
    return { instanceType, min, desired, max };
  });
  const total = (field: keyof NodeCount) => (groups ?? []).reduce((all, group) => all + group[field], 0);
  const known = items.flatMap((item) => {
    const amount = cost.items[item];
    return amount === undefined ? [] : [[item, toTheCent(amount)] as const];
  });
  return {
    ...of,
    region: shape.region,
    instanceType: groups?.length === 1 ? groups[0]?.instanceType : undefined,
    nodes: groups && { min: total("min"), desired: total("desired"), max: total("max") },
    ...(shape.isAuto ? { isAuto: true as const } : {}),
    ...(groups !== undefined && groups.length > 1 ? { nodeGroups: groups } : {}),
    ...cost,
    isComplete: cost.unknown.length === 0,
    month: toTheCent(cost.month),
    items: Object.fromEntries(known),
  };
}

const sumOf = (name: string, rows: readonly Row[]): Sum => ({
  name,
  clusters: rows.length,
  month: toTheCent(sum(rows.map(({ month }) => month))),
  isComplete: rows.every(({ isComplete }) => isComplete),
});

const sumsBy = (rows: readonly Row[], key: "environment" | "tenant"): Sum[] =>
  [...Map.groupBy(rows, (row) => row[key])]
    .map(([name, its]) => sumOf(name, its))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

export const costsOf = (clusters: readonly Row[]): Costs => ({
  clusters,
  environments: sumsBy(clusters, "environment"),
  tenants: sumsBy(clusters, "tenant"),
  total: sumOf("total", clusters),
});
