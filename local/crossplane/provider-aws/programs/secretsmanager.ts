import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { STSClient } from "@aws-sdk/client-sts";
import { kinds } from "../kinds/secretsmanager.ts";
import { runProgram } from "../program.ts";

await runProgram({ group: "secretsmanager", kinds, classes: { secretsmanager: SecretsManagerClient, sts: STSClient } });
