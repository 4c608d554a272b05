import * as pulumi from "@pulumi/pulumi";
import type { HubCluster } from "../components/hub-cluster.ts";
import { IrsaRole } from "../components/irsa-role.ts";
import { ServiceRole } from "../components/service-role.ts";
import { argocdController } from "../lib/argocd.ts";
import { arns } from "../lib/iam/policy.ts";
import { roleTrust } from "../lib/iam/trust.ts";
import { argocdPolicy } from "../lib/iam/workloads.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames } from "../lib/names.ts";
import type { AwsAccount } from "./account.ts";
import type { Settings } from "./settings.ts";

/**
 * The roles of Argo CD on the hub: that of its controller, and the one that it assumes on spokes, which may do nothing in AWS. The
 * composition function gives the latter access to spokes (functions/spoke/parts/argocd.ts).
 * @returns the controller's; undefined where Argo CD does not act on spokes
 */
export function argocdRole(
  { fleet, argocdNamespace, argocdSpokes, permissionsBoundary }: Settings,
  account: AwsAccount,
  { oidc }: HubCluster,
  tags: Tags,
): IrsaRole | undefined {
  if (!argocdSpokes) return undefined;
  const names = fleetNames(fleet);
  const common = { permissionsBoundary: permissionsBoundary || undefined, tags };
  const scope = pulumi.output(account);
  const controller = new IrsaRole("argocd", {
    ...common,
    roleName: names.argocdRole,
    description: "Argo CD on the hub",
    oidc,
    subject: { namespace: argocdNamespace, serviceAccount: argocdController },
    policy: scope.apply((known) => argocdPolicy(arns(known).role(names.argocdSpokesRole))),
  });
  new ServiceRole("argocd-spokes", {
    ...common,
    roleName: names.argocdSpokesRole,
    description: "Argo CD on spokes, where access entries give it its rights",
    trust: scope.apply((known) => roleTrust(known, arns(known).role(names.argocdRole))),
  });
  return controller;
}
