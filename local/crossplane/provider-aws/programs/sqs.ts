import { SQSClient } from "@aws-sdk/client-sqs";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/sqs.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "sqs", kinds, classes: { sqs: SQSClient, sts: STSClient } });
