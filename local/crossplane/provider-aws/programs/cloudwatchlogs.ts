import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { STSClient } from "@aws-sdk/client-sts";
import { cloudwatchlogsResources } from "../../../aws/cloudwatchlogs.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram({
  group: "cloudwatchlogs",
  kinds: kindsOf(cloudwatchlogsResources),
  classes: { cloudwatchlogs: CloudWatchLogsClient, sts: STSClient },
});
