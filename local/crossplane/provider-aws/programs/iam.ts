import { IAMClient } from "@aws-sdk/client-iam";
import { STSClient } from "@aws-sdk/client-sts";
import { iamResources } from "../../../aws/iam/index.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "iam", kinds: kindsOf(iamResources), classes: { iam: IAMClient, sts: STSClient } });
