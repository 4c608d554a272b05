import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/dynamodb.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "dynamodb", kinds, classes: { dynamodb: DynamoDBClient, sts: STSClient } });
