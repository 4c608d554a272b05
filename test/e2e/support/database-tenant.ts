import { databaseName, databaseSubnets } from "../../../lib/iam/databases.ts";
import { labelKeys } from "../../../lib/labels.ts";
import { spokeNames } from "../../../lib/spoke.ts";
import { getOnSpoke } from "./spokes.ts";

/** Databases that applications of a spoke order, as the governance team's folder has them. */

interface DatabaseOrder {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managementPolicies?: readonly string[];
  readonly forProvider?: Readonly<Record<string, unknown>>;
}

export const prefixOf = (spoke: string): string => spokeNames("fleet-spoke-", spoke).databases;

export const databaseOf = (spoke: string, namespace: string, name: string): string =>
  databaseName(prefixOf(spoke), namespace, name);

/** The security group of the cluster, as the bridge tells the spoke. */
export async function groupOf(spoke: string): Promise<string> {
  const { data } = await getOnSpoke(spoke, ["configmap", "cluster-info", "--namespace", "flux-system"]);
  return data["database_security_group_id"];
}

/** A database that outlives its object and is found by its name, unless `more` says otherwise. */
export function databaseObject(
  spoke: string,
  namespace: string,
  name: string,
  group: string,
  more: DatabaseOrder = {},
) {
  const { annotations, managementPolicies = ["Observe", "Create", "Update"], forProvider } = more;
  const identifier = databaseOf(spoke, namespace, name);
  return {
    apiVersion: "rds.aws.m.upbound.io/v1beta1",
    kind: "Instance",
    metadata: { name, namespace, annotations: { "crossplane.io/external-name": identifier, ...annotations } },
    spec: {
      managementPolicies,
      providerConfigRef: { kind: "ProviderConfig", name: "aws" },
      writeConnectionSecretToRef: { name: `${name}-connection` },
      forProvider: {
        region: "us-east-1",
        identifier,
        engine: "postgres",
        instanceClass: "db.t4g.micro",
        allocatedStorage: 20,
        username: "main",
        autoGeneratePassword: true,
        passwordSecretRef: { name: `${name}-password`, key: "password" },
        storageEncrypted: true,
        backupRetentionPeriod: 7,
        deletionProtection: true,
        applyImmediately: true,
        dbSubnetGroupName: databaseSubnets(prefixOf(spoke)),
        vpcSecurityGroupIds: [group],
        tags: { [labelKeys.cluster]: spoke },
        ...forProvider,
      },
    },
  };
}

/** The same that goes with its object and leaves a final snapshot. */
export const leavingObject = (spoke: string, namespace: string, name: string, group: string) =>
  databaseObject(spoke, namespace, name, group, {
    managementPolicies: ["Observe", "Create", "Update", "Delete"],
    annotations: { "fleet.internal/deletes": databaseOf(spoke, namespace, name) },
    forProvider: {
      deletionProtection: false,
      finalSnapshotIdentifier: `${databaseOf(spoke, namespace, name)}-final`,
    },
  });
