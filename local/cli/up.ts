import { join } from "node:path";
import type { Instance } from "../instance/index.ts";
import { cloudSteps } from "./cloud-steps.ts";
import { type Fleet, newFleet } from "./fleet.ts";
import { registryStep } from "./registry-step.ts";
import { hubSteps, pulumiSteps } from "./stack-steps.ts";
import { runSteps, type Timings } from "./steps.ts";

/** Brings up everything in a folder: machine, toolchain, instance, AWS API, Git server, and the hub by `pulumi up`. Idempotent. */
export async function bringUp(dir: string, stack: string): Promise<{ fleet: Fleet; timings: Timings }> {
  const fleet = newFleet(dir, stack);
  const steps = [...fleet.machineSteps, fleet.instanceStep, ...cloudSteps, registryStep, ...pulumiSteps, ...hubSteps];
  return { fleet, timings: await runSteps(steps, fleet, join(dir, "logs")) };
}

/** Brings up what `pulumi preview` needs: everything but a cluster. */
export async function bringUpForPreview(dir: string, stack: string): Promise<Fleet> {
  const fleet = newFleet(dir, stack);
  await runSteps([...fleet.machineSteps, fleet.instanceStep, ...cloudSteps, ...pulumiSteps], fleet, join(dir, "logs"));
  return fleet;
}

/** What a person can do next. */
export function summary({ dir, paths, awsEndpoint }: Instance): string {
  return `
The hub runs. To use it from this shell:
  . ${paths.env}

  kubectl get pods -A                       the hub's pods; kubeconfig: ${paths.kubeconfig}
  kubectl get kustomizations -n flux-system what Flux applies
  pulumi up                                 the same program again: no changes
  pulumi stack output                       deploy keys, sealing certificates, the GitOps bridge
  aws eks describe-cluster --name fleet-hub the AWS API, on ${awsEndpoint}

Push a change, Flux applies it:
  git clone ${join(paths.git, "gitops-system.git")} /tmp/gitops-system && cd /tmp/gitops-system
  # edit, for example platform/cluster-info/cluster-info.yaml
  git commit -am "Say hello" && git push
  kubectl get configmap cluster-info -n flux-system -o yaml

npm run status    what runs, restarts, what is not Ready
npm test          all tests, on an instance of their own
npm run down      removes everything
Logs: ${join(dir, "logs")}
`;
}
