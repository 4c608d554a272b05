import { KMSClient } from "@aws-sdk/client-kms";
import { STSClient } from "@aws-sdk/client-sts";
import { kmsResources } from "../../../aws/kms.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "kms", kinds: kindsOf(kmsResources), classes: { kms: KMSClient, sts: STSClient } });
