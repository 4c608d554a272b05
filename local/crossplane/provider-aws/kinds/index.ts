/** Every kind that the provider family serves here. A package's program imports only its own group. */
import type { Kind } from "../kind.ts";
import { kinds as cloudwatchlogs } from "./cloudwatchlogs.ts";
import { kinds as dynamodb } from "./dynamodb.ts";
import { kinds as ec2 } from "./ec2.ts";
import { kinds as eks } from "./eks.ts";
import { kinds as iam } from "./iam.ts";
import { kinds as kms } from "./kms.ts";
import { kinds as secretsmanager } from "./secretsmanager.ts";
import { kinds as sqs } from "./sqs.ts";

export const families = { cloudwatchlogs, dynamodb, ec2, eks, iam, kms, secretsmanager, sqs } as const satisfies Record<
  string,
  readonly Kind[]
>;

export const allKinds: readonly Kind[] = Object.values(families).flat();
