import { receiverLabel } from "../product.ts";

/** The Flux source in gitops-system by which an environment follows a branch of its own (`stages` of the Composition's input). */
export const stageSource = (name: string, branch: string, interval: string) => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "GitRepository",
  metadata: { name, namespace: "flux-system", labels: { ...receiverLabel } },
  spec: {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Flux
    url: "${gitops_system_repo_url}",
    ref: { branch },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Flux
    provider: "${git_provider}",
    secretRef: { name: "gitops-system" },
    interval,
  },
});
