import { EC2Client } from "@aws-sdk/client-ec2";
import { STSClient } from "@aws-sdk/client-sts";
import { ec2Resources } from "../../../aws/ec2/index.ts";
import { kindsOf } from "../kind.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "ec2", kinds: kindsOf(ec2Resources), classes: { ec2: EC2Client, sts: STSClient } });
