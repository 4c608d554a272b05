import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Spoke } from "../../../../functions/spoke/api.ts";
import type { Hub } from "../../../../functions/spoke/hub.ts";
import { readSettings, type Settings } from "../../../../functions/spoke/settings.ts";
import { exampleMetadata } from "../../../../lib/bridge.ts";
import { crossplaneServices } from "../../../../lib/names.ts";
import { nodeDigest } from "../../../../lib/node-groups.ts";
import { withDefaults } from "../../../../lib/openapi.ts";
import { compositionInput, spokeSchema } from "./definition.ts";

const account = "000000000000";
const hubRole = (name: string, namespace: string) => ({
  roleArn: `arn:aws:iam::${account}:role/fleet-hub-${name}`,
  namespace,
  serviceAccount: name,
});

/** The hub as `npm start` makes it. */
export const hub: Hub = {
  ...exampleMetadata,
  name: "hub",
  role: "hub",
  environment: "local",
  tenant: "platform",
  fleet: "fleet",
  tags: {},
  aws: {
    ...exampleMetadata.aws,
    accountId: account,
    region: "us-east-1",
    vpcId: "vpc-hub",
    vpcCidr: "10.0.0.0/16",
    clusterName: "fleet-hub",
    clusterArn: `arn:aws:eks:us-east-1:${account}:cluster/fleet-hub`,
  },
  oidc: { provider: "oidc.example/id/HUB", providerArn: `arn:aws:iam::${account}:oidc-provider/oidc.example/id/HUB` },
  identities: {
    ...Object.fromEntries(
      crossplaneServices.map((service) => [
        `crossplane_${service}`,
        hubRole(`crossplane-${service}`, "crossplane-system"),
      ]),
    ),
    external_secrets: hubRole("external-secrets", "flux-system"),
    helm_controller: hubRole("helm-controller", "flux-system"),
    kustomize_controller: hubRole("kustomize-controller", "flux-system"),
  },
  repositories: {
    gitopsSystem: { url: "ssh://git@git.fleet.internal:2222/gitops-system.git", revision: "main" },
    gitopsWorkloads: { url: "ssh://git@git.fleet.internal:2222/gitops-workloads.git", revision: "main" },
  },
  chartsRegistry: "https://charts.fleet.internal",
  fleetSize: "minimal",
  functionPackage: "ghcr.io/eks-gitops-fleet/function-spoke",
  sealingScope: "local",
  secretsKeyArn: `arn:aws:kms:us-east-1:${account}:key/secrets`,
  sealingKeyArns: ["local/1", "dev/1", "dev/2", "prod/1", "cluster-analytics/1"].map(
    (key) => `arn:aws:secretsmanager:us-east-1:${account}:secret:fleet/sealing-keys/${key}-AbCdEf`,
  ),
  spokePlaces: {
    [account]: { regions: ["us-east-1"] },
    "111111111111": { regions: ["eu-west-1"], scopes: ["dev", "prod", "cluster-analytics"] },
  },
  permissionsBoundaryArn: `arn:aws:iam::${account}:policy/fleet-boundary`,
  tenantBoundaryArn: `arn:aws:iam::${account}:policy/fleet-tenant-boundary`,
  hubEgressCidrs: ["198.51.100.1/32"],
  hubAvailabilityZones: ["us-east-1a", "us-east-1b", "us-east-1c"],
  hubRolesCreated: "2025-12-01T12:00:00Z",
  addons: ["crossplane", "external_secrets", "flux"],
};

/** The Composition's input, with changes. */
export const settings = (change: Record<string, unknown> = {}): Settings =>
  readSettings({ ...compositionInput(), ...change });

const examples = join(import.meta.dirname, "..", "..", "..", "..", "functions", "spoke", "examples");

export const exampleNames: readonly string[] = readdirSync(examples)
  .map((file) => file.replace(/\.yaml$/, ""))
  .sort();

/** An example as the author wrote it. */
export const written = (name: string): Record<string, unknown> =>
  parse(readFileSync(join(examples, `${name}.yaml`), "utf8"));

/** A Spoke as the API server stores it: with defaults, an identity and an age. */
export function stored(
  object: Record<string, unknown>,
  uid = "uid-1",
  creationTimestamp = "2026-01-01T00:00:00Z",
): Spoke {
  const filled = withDefaults(spokeSchema, object) as unknown as Spoke;
  return { ...filled, metadata: { ...filled.metadata, uid, creationTimestamp, generation: 1 } };
}

export const example = (name: string): Spoke => stored(written(name));

/** Composition resource name of the node group of {@link spoke} with its default nodes. */
export const nodeGroup = `node-group-${nodeDigest({
  instanceTypes: ["m6i.large"],
  amiType: "AL2023_x86_64_STANDARD",
  capacityType: "ON_DEMAND",
})}`;

/** A small valid Spoke, with changes of its specification. */
export function spoke(
  change: Record<string, unknown> = {},
  name = "blue",
  uid = `uid-${name}`,
  created?: string,
): Spoke {
  const base = written("minimal") as { metadata: object; spec: object };
  return stored({ ...base, metadata: { ...base.metadata, name }, spec: { ...base.spec, ...change } }, uid, created);
}
