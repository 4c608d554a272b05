import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { type Instance, orMissing, readJson, writeAtomic } from "../../instance/index.ts";

/** Services by the names that sign their requests. */
const SERVICES = [
  "aps",
  "dynamodb",
  "ec2",
  "eks",
  "grafana",
  "iam",
  "kms",
  "logs",
  "rds",
  "route53",
  "s3",
  "secretsmanager",
  "sqs",
  "sts",
] as const;

const byService = z.partialRecord(z.enum(SERVICES), z.number().positive());

const action = z.string().regex(/^[a-z0-9-]+:[A-Z][A-Za-z0-9]+$/, "must be an action of IAM, such as ec2:CreateVpc");

const schema = z.strictObject({
  /**
   * Requests per second that a service answers; after a rest as many at once. All others are throttled. AWS counts in such buckets too, whose
   * sizes it does not tell. @default no limit
   */
  requestsPerSecond: byService.default({}),
  /** Seconds from its creation in which IAM alone knows a role: no service account can assume it, EKS does not find it. @default 0 */
  newRolesUnknownSeconds: z.number().nonnegative().default(0),
  /** Seconds in which new tags do not count for conditions yet. KMS documents up to 5 minutes ("ABAC for AWS KMS"). @default 0 */
  tagsUncountedSeconds: byService.default({}),
  /**
   * Seconds by which AWS's clock is ahead of the machine's: signatures, sessions and the tokens of service accounts have expired for AWS when
   * it says so, and AWS answers with its own time. @default 0
   */
  clockAheadSeconds: z.number().nonnegative().default(0),
  /**
   * Whether the certificates of AWS's names have expired. Connections from before are closed at their next request: a client that has one
   * would not notice. @default false
   */
  certificatesExpired: z.boolean().default(false),
  /**
   * Fields of KubeletConfiguration, in addition, for nodes of node groups that start. With a value that kubelet rejects, nodes never join their
   * cluster. @default none
   */
  kubeletConfig: z.record(z.string(), z.unknown()).default({}),
  /**
   * Whether nodes of node groups take vCPUs of the quotas for Standard instances, as on AWS: On-Demand L-1216C47A, Spot L-34B43A08. EC2 then
   * launches no node above a quota. @default false: a fleet starts without a request for more
   */
  nodesTakeVcpus: z.boolean().default(false),
  /**
   * Keys of tags without which the account's organization lets no principal create a resource that can have tags: a service control policy, as
   * companies have them. @default none
   */
  requiredTags: z.array(z.string().min(1)).default([]),
  /**
   * Statements with Effect Deny of a service control policy of the account's organization, which IAM evaluates for every principal.
   * @default none
   */
  serviceControlPolicy: z.array(z.looseObject({ Effect: z.literal("Deny") })).default([]),
  /**
   * Actions as IAM names them (ec2:CreateVpc), or each with a text that a request for it has to contain: a name or a tag, which not every
   * request has. AWS does what the first request for each asks for and holds its answer for a minute, in which whoever asked can be killed.
   * @default none
   */
  heldAnswers: z
    .array(
      z.union([
        action.transform((held) => ({ action: held, containing: undefined })),
        z.strictObject({ action, containing: z.string().min(1).optional() }),
      ]),
    )
    .default([]),
});

/**
 * How much worse than it has to be the AWS API of an instance is, for tests and drills. Stands in faults.json in the instance's folder, where
 * gateway and ministack look before each request.
 */
export type Faults = z.output<typeof schema>;

/** Path of the file with an instance's faults; without it there are none. */
export const faultsFile = (instance: Pick<Instance, "dir">): string => join(instance.dir, "faults.json");

/** Has the AWS API of an instance show these faults from its next request on. @throws when it has no such faults */
export const setFaults = (instance: Pick<Instance, "dir">, faults: z.input<typeof schema>): Promise<void> =>
  writeAtomic(faultsFile(instance), `${JSON.stringify(schema.parse(faults))}\n`);

/** Ends all faults of an instance. */
export const clearFaults = (instance: Pick<Instance, "dir">): Promise<void> =>
  rm(faultsFile(instance), { force: true });

/** Gives a function that tells the faults in a file, which it reads when that has changed. It rejects where the file holds anything else. */
export function faultsIn(file: string): () => Promise<Faults> {
  let known = { changedAt: 0, faults: schema.parse({}) };
  return async () => {
    const changedAt = (await orMissing(stat(file), undefined))?.mtimeMs ?? 0;
    if (changedAt === known.changedAt) return known.faults;
    const { data, error } = schema.safeParse((await readJson(file)) ?? {});
    if (error) throw new Error(`${file} can't be used: ${z.prettifyError(error)}`);
    known = { changedAt, faults: data };
    return data;
  };
}
