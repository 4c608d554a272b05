import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { STSClient } from "@aws-sdk/client-sts";
import { dynamodbResources } from "../../../aws/dynamodb.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram({
  group: "dynamodb",
  kinds: kindsOf(dynamodbResources),
  classes: { dynamodb: DynamoDBClient, sts: STSClient },
});
