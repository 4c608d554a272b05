import type * as sdk from "@aws-sdk/client-eks";
import * as z from "zod";
import type { AwsLookups } from "../aws/lookups.ts";
import * as aws from "../aws/operation.ts";
import type { ClusterRecord } from "./model.ts";
import type { Clusters } from "./runtime.ts";
import type { Store } from "./store.ts";

export {
  type Authorization,
  passedRole,
  type Request,
  stringOf,
  structure,
  tags,
  text,
  texts,
  type Unchecked,
} from "../aws/operation.ts";

/** What every operation works with. */
export interface EksContext {
  readonly region: string;
  readonly account: string;
  readonly partition: string;
  readonly store: Store;
  readonly clusters: Clusters;
  /** IAM and EC2 as the service sees them (not with the caller's rights). */
  readonly aws: AwsLookups;
  /** The same of any account. */
  awsOf(account: string): AwsLookups;
  /** Seconds since 1970. */
  now(): number;
  /** Schedules another look at a cluster's background work. */
  wake(cluster: string): void;
}

export type OperationName = aws.OperationNameOf<typeof sdk>;

/** An operation of the EKS API. */
export type Operation = aws.Operation<EksContext, OperationName>;

export const { operation, list, tagOperations } = aws.operationsOf<EksContext, OperationName>({ mostResults: 100 });

export const clientRequestToken = z.string().optional();

/** ARN of a resource of the EKS API. */
export function eksArn(context: Pick<EksContext, "partition" | "region" | "account">, resource: string): string {
  return `arn:${context.partition}:eks:${context.region}:${context.account}:${resource}`;
}

/** Authorization on the cluster that a request names. */
export const onCluster: Operation["authorize"] = (context, { name, clusterName = name }) => ({
  resource: eksArn(context, `cluster/${aws.stringOf(clusterName)}`),
});

export const onAnything: Operation["authorize"] = () => ({ resource: "*" });

/** Changes the record of a cluster and schedules its background work. */
export async function changed<T>(context: EksContext, name: string, edit: (record: ClusterRecord) => T): Promise<T> {
  const result = await context.store.change(name, edit);
  context.wake(name);
  return result;
}
