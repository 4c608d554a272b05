import { KMSClient } from "@aws-sdk/client-kms";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/kms.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "kms", kinds, classes: { kms: KMSClient, sts: STSClient } });
