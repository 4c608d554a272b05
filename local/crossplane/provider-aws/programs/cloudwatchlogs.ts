import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/cloudwatchlogs.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "cloudwatchlogs", kinds, classes: { cloudwatchlogs: CloudWatchLogsClient, sts: STSClient } });
