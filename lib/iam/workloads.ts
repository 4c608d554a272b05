import { arns, type PolicyDocument, policy, type Scope } from "./policy.ts";
import { assumeWithTags } from "./trust.ts";

/** Reads exactly the given secrets, and decrypts with their key through Secrets Manager only. */
export function secretReaderPolicy(args: {
  secretArns: readonly string[];
  keyArn: string;
  region: string;
  dnsSuffix: string;
}): PolicyDocument {
  return policy(
    {
      Sid: "ReadSecrets",
      Effect: "Allow",
      Action: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
      Resource: args.secretArns,
    },
    {
      Sid: "DecryptSecrets",
      Effect: "Allow",
      Action: ["kms:Decrypt"],
      Resource: [args.keyArn],
      Condition: { StringEquals: { "kms:ViaService": `secretsmanager.${args.region}.${args.dnsSuffix}` } },
    },
  );
}

/**
 * What kustomize- and helm-controller need in AWS: to look up the endpoint of a spoke.
 * Their rights inside a spoke come from its access entry for the role.
 */
export function spokeViewerPolicy(scope: Scope, spokePrefix: string): PolicyDocument {
  return policy({
    Sid: "DescribeSpokes",
    Effect: "Allow",
    Action: ["eks:DescribeCluster"],
    Resource: [arns(scope).cluster(`${spokePrefix}*`)],
  });
}

/** What Argo CD on the hub needs in AWS: the role as which it acts on spokes. Its rights there come from access entries for that role. */
export const argocdPolicy = (spokesRoleArn: string): PolicyDocument =>
  policy({ Sid: "ActOnSpokes", Effect: "Allow", Action: assumeWithTags, Resource: [spokesRoleArn] });

/**
 * What External Secrets needs to write spokes for an Argo CD elsewhere into Secrets Manager, to keep them as they are, and to delete them
 * (providers/v1/aws/secretsmanager/secretsmanager.go of external-secrets v2.9.0, and of v0.20.4, which the embedded cloud runs). Every push to a
 * secret that is there deletes its resource policy, if it has one or not (external-secrets#6806, which keeps that). They are encrypted with
 * AWS's own key for the service, which asks its callers for no right.
 */
export const argocdSecretsPolicy = (secretArn: string): PolicyDocument =>
  policy({
    Sid: "WriteSpokes",
    Effect: "Allow",
    Action: [
      "secretsmanager:CreateSecret",
      "secretsmanager:DeleteResourcePolicy",
      "secretsmanager:DeleteSecret",
      "secretsmanager:DescribeSecret",
      "secretsmanager:GetSecretValue",
      "secretsmanager:PutSecretValue",
      "secretsmanager:TagResource",
      "secretsmanager:UntagResource",
    ],
    Resource: [secretArn],
  });
