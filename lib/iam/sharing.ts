import { identityTag, principalTags } from "../labels.ts";
import { fleetNames } from "../names.ts";
import { clusterScopePrefix, hubSealingScope } from "../spoke.ts";
import { arns, dnsSuffix, noPath, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";

/*
 * What the hub's account lets spokes in other accounts read: across accounts the policy of the role and that of the resource must both allow
 * (Secrets Manager User Guide, "Access AWS Secrets Manager secrets from a different account"). Conditions name the roles, not principals:
 * IAM refuses a principal that does not exist yet, and keeps the ID of one that does (`roleTrust`).
 */

/** The hub's account and region, and the accounts of spokes elsewhere. */
export interface SharingScope extends Pick<Scope, "partition" | "accountId" | "region" | "rolePath"> {
  readonly fleet: string;
  readonly accounts: readonly SharingAccount[];
}

/** An account, and the sealing scopes whose keys its spokes may read. */
export interface SharingAccount {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** External Secrets of spokes in the accounts: their roles' names and tags, which the composition function gives them. */
function readers(
  { partition, fleet, rolePath = noPath }: SharingScope,
  accounts: readonly SharingAccount[],
): Required<Pick<Statement, "Principal" | "Condition">> {
  const { spokePrefix } = fleetNames(fleet);
  const named = (accountId: string) => arns({ partition, accountId, region: "", rolePath });
  const ids = accounts.map(({ id }) => id);
  return {
    Principal: { AWS: ids.map((id) => `arn:${partition}:iam::${id}:root`) },
    Condition: {
      ArnLike: { "aws:PrincipalArn": ids.map((id) => named(id).role(`${spokePrefix}*`)) },
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

/** The accounts whose spokes read the keys of a sealing scope: the hub's own are the hub's alone. */
export const readersOf = <A extends SharingAccount>(accounts: readonly A[], sealingScope: string): readonly A[] =>
  sealingScope === hubSealingScope ? [] : accounts.filter(({ scopes }) => scopes.includes(sealingScope));

/** Resource policy of the sealing keys of a scope of at least one account. */
export function sealingKeyPolicy(scope: SharingScope, sealingScope: string): PolicyDocument {
  const { Principal, Condition } = readers(scope, readersOf(scope.accounts, sealingScope));
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
 * sealing keys of their account's scopes only (it names the secret in the encryption context; Secrets Manager User Guide, "Secret encryption
 * and decryption").
 * For at least one account.
 */
export function secretsKeyPolicy(scope: SharingScope): PolicyDocument {
  const { partition, accountId, region, fleet, accounts } = scope;
  const keysOf = (sealingScope: string) => arns(scope).secret(fleetNames(fleet).sealingKeySecret(sealingScope, "*"));
  return policy(
    {
      // KMS's default: without it nobody of the account could use or change the key.
      Sid: "EnableIAMPolicies",
      Effect: "Allow",
      Principal: { AWS: `arn:${partition}:iam::${accountId}:root` },
      Action: ["kms:*"],
      Resource: ["*"],
    },
    ...accounts.map((account): Statement => {
      const { Principal, Condition } = readers(scope, [account]);
      return {
        Sid: `SpokesIn${account.id}`,
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
          StringLike: { "kms:EncryptionContext:SecretARN": account.scopes.map(keysOf) },
        },
      };
    }),
  );
}
