import { IAMClient } from "@aws-sdk/client-iam";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/iam.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "iam", kinds, classes: { iam: IAMClient, sts: STSClient } });
