import { identityTag, principalTags } from "../labels.ts";
import { fleetNames } from "../names.ts";
import { clusterScopePrefix, hubSealingScope } from "../spoke.ts";
import { arns, dnsSuffix, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";

/*
 * What the hub's account lets spokes in other accounts read: across accounts the policy of the role and that of the resource must both allow
 * (Secrets Manager User Guide, "Access AWS Secrets Manager secrets from a different account"). Conditions name the roles, not principals:
 * IAM refuses a principal that does not exist yet, and keeps the ID of one that does (`roleTrust`).
 */

/** The hub's account and region, and the accounts of spokes elsewhere. */
export interface SharingScope extends Pick<Scope, "partition" | "accountId" | "region"> {
  readonly fleet: string;
  readonly accounts: readonly string[];
}

/** External Secrets of spokes in the accounts: their roles' names and tags, which the composition function gives them. */
function readers({ partition, fleet, accounts }: SharingScope): Required<Pick<Statement, "Principal" | "Condition">> {
  const { spokePrefix } = fleetNames(fleet);
  const named = (accountId: string) => arns({ partition, accountId, region: "" });
  return {
    Principal: { AWS: accounts.map((id) => `arn:${partition}:iam::${id}:root`) },
    Condition: {
      ArnLike: { "aws:PrincipalArn": accounts.map((id) => named(id).role(`${spokePrefix}*`)) },
      StringEquals: { [`aws:PrincipalTag/${identityTag}`]: "external-secrets" },
    },
  };
}

/** The tag of the roles that read the keys of a sealing scope: of a cluster its own, of an environment all of its spokes'. */
function tagOf(scope: string, fleet: string): Readonly<Record<string, string>> {
  const { spokePrefix } = fleetNames(fleet);
  return scope.startsWith(clusterScopePrefix)
    ? { [`aws:PrincipalTag/${principalTags.cluster}`]: `${spokePrefix}${scope.slice(clusterScopePrefix.length)}` }
    : { "aws:PrincipalTag/environment": scope };
}

/** Whether spokes read the keys of a sealing scope: the hub's own are the hub's alone. */
export const isShared = (sealingScope: string): boolean => sealingScope !== hubSealingScope;

/** Resource policy of the sealing keys of a scope that {@link isShared}, for at least one account. */
export function sealingKeyPolicy(scope: SharingScope, sealingScope: string): PolicyDocument {
  const { Principal, Condition } = readers(scope);
  return policy({
    Sid: "SpokesInOtherAccounts",
    Effect: "Allow",
    Principal,
    Action: ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"],
    Resource: ["*"],
    Condition: {
      ...Condition,
      StringEquals: { ...Condition["StringEquals"], ...tagOf(sealingScope, scope.fleet) },
    },
  });
}

/**
 * Policy of the key of the fleet's secrets: its account decides by IAM, and spokes elsewhere decrypt what Secrets Manager reads for them,
 * sealing keys only (it names the secret in the encryption context; Secrets Manager User Guide, "Secret encryption and decryption").
 * For at least one account.
 */
export function secretsKeyPolicy(scope: SharingScope): PolicyDocument {
  const { Principal, Condition } = readers(scope);
  const { partition, accountId, region, fleet } = scope;
  const sealingKeys = arns(scope).secret(`${fleetNames(fleet).sealingKeyPrefix}*`);
  return policy(
    {
      // KMS's default: without it nobody of the account could use or change the key.
      Sid: "EnableIAMPolicies",
      Effect: "Allow",
      Principal: { AWS: `arn:${partition}:iam::${accountId}:root` },
      Action: ["kms:*"],
      Resource: ["*"],
    },
    {
      Sid: "SpokesInOtherAccounts",
      Effect: "Allow",
      Principal,
      Action: ["kms:Decrypt"],
      Resource: ["*"],
      Condition: {
        ...Condition,
        StringEquals: {
          ...Condition["StringEquals"],
          "kms:ViaService": `secretsmanager.${region}.${dnsSuffix(partition)}`,
        },
        StringLike: { "kms:EncryptionContext:SecretARN": sealingKeys },
      },
    },
  );
}
