import { SQSClient } from "@aws-sdk/client-sqs";
import { STSClient } from "@aws-sdk/client-sts";
import { sqsResources } from "../../../aws/sqs.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "sqs", kinds: kindsOf(sqsResources), classes: { sqs: SQSClient, sts: STSClient } });
