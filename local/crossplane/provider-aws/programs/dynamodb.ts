import { dynamodbResources } from "../../../aws/dynamodb.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram("dynamodb", kindsOf(dynamodbResources));
