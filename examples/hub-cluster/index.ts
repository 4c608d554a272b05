import * as pulumi from "@pulumi/pulumi";
import { HubCluster, HubNodes, Network } from "eks-gitops-fleet/components";

const config = new pulumi.Config();
const endpointPublicAccessCidrs = config.requireObject<string[]>("endpointPublicAccessCidrs");

const network = new Network("example", { cidr: "10.20.0.0/16" });
const cluster = new HubCluster("example", {
  network,
  version: config.require("kubernetesVersion"),
  admins: config.requireObject<string[]>("clusterAdmins"),
  endpointPublicAccess: endpointPublicAccessCidrs.length > 0,
  endpointPublicAccessCidrs,
});
// Nodes reach the internet through the network's routes, so these must exist before the nodes and outlive them.
new HubNodes("example-nodes", { cluster, instanceTypes: ["m6i.large"], min: 1, max: 3 }, { dependsOn: [network] });

/** kubeconfig for people: it calls `aws eks get-token`, and holds no credential. */
export const kubeconfig = cluster.kubeconfig;
/** What the example workload-role asks for. */
export const { issuer: oidcIssuer, providerArn: oidcProviderArn } = cluster.oidc;
