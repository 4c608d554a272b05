import { join } from "node:path";
import { instantiate } from "../../../cli/folder.ts";
import { repos, sealed } from "../../repos/support/spoke.ts";
import { type Change, type Seed, spoke } from "./seeds.ts";

/** An application's folder on a spoke, as fleet onboard makes it. */
export async function application(
  app: string,
  tenant: string,
  { cluster = "blue", path = "./overlays/dev" } = {},
): Promise<Change[]> {
  const values = { app, tenant, repositoryUrl: "ssh://git@git.example.com/payment-app-manifests.git" };
  const files = await instantiate(join(repos, "gitops-workloads"), join("templates", "app"), {
    ...{ ...values, provider: "generic", revision: "main", path },
  });
  return Object.entries({ ...files, "credential.yaml": sealed(`${app}-git`, app) }).map(([name, to]) => ({
    file: `gitops-workloads/clusters/${cluster}/${app}/${name}`,
    to,
  }));
}

/** What does not fit between the two repositories. */
export const applicationSeeds: readonly Seed[] = [
  {
    fault: "applications of an unknown cluster",
    changes: await application("payment-app", "payments", { cluster: "nowhere" }),
    rule: "application",
    file: "gitops-workloads/clusters/nowhere/payment-app/aws.yaml",
    on: "# Crossplane makes",
    problem:
      "clusters/nowhere is of an unknown cluster: no fleet's folder in gitops-system has a Spoke nowhere; if the spoke was let go (fleet release), its own Flux still applies this folder, otherwise nothing does",
    clusters: [],
  },
  {
    fault: "an overlay of another environment than the Spoke's",
    changes: [
      ...spoke("mixed", "10.101.0.0/18"),
      ...(await application("payment-app", "payments", { cluster: "mixed", path: "./overlays/prod" })),
    ],
    rule: "application",
    file: "gitops-workloads/clusters/mixed/payment-app/sync.yaml",
    on: "path: ./overlays/prod",
    problem:
      "Kustomization payment-app takes ./overlays/prod, of the environment prod; Spoke mixed has the environment dev",
    clusters: ["mixed"],
  },
];
