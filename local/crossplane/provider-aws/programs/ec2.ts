import { EC2Client } from "@aws-sdk/client-ec2";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/ec2.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "ec2", kinds, classes: { ec2: EC2Client, sts: STSClient } });
