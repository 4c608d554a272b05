import { EKSClient } from "@aws-sdk/client-eks";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/eks.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "eks", kinds, classes: { eks: EKSClient, sts: STSClient } });
