import { join } from "node:path";
import type { Instance } from "../instance/index.ts";
import { demo, deployerArn, machineCidr, sshUrlOf } from "./demo.ts";

const second = { spoke: "green", environment: "prod" };

/** What a person can do with the hub. */
const onTheHub = ({ paths, awsEndpoint }: Instance) => `
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
`;

/** What a person can do with the demo's spoke, and how to add another. */
const onSpokes = ({ paths }: Instance) => `
Spoke ${demo.spoke} (${demo.environment}) runs, with ${demo.app} on it:
  kubectl get spokes -n spokes
  kubectl --context fleet-spoke-${demo.spoke} -n ${demo.app} port-forward service/${demo.app} 9898:http   and in another shell:
  curl http://localhost:9898/api/info
  kubectl --context fleet-spoke-${demo.spoke} -n ${demo.app} get tables,queues,pods

Add a second one, of another environment:
  git clone ${join(paths.git, "gitops-system.git")} /tmp/fleet-system && cd /tmp/fleet-system
  fleet new-cluster ${second.spoke} --environment ${second.environment} --tenant ${demo.tenant} --nodes 1 \\
    --admin ${deployerArn} --public-access-cidr ${machineCidr}
  git add . && git commit -m "Add spoke ${second.spoke}" && git push
  kubectl get spoke ${second.spoke} -n spokes --watch --output wide
  npm start                                 adds it to the kubeconfig (in the project's folder)

And the application on it:
  git clone ${join(paths.git, "gitops-workloads.git")} /tmp/fleet-workloads && cd /tmp/fleet-workloads
  fleet onboard ${demo.app} --cluster ${second.spoke} --environment ${second.environment} --tenant ${demo.tenant} \\
    --repository-url ${sshUrlOf(demo.appRepository)}
  deploy-key ${demo.appRepository} '<the key that it printed>'
  git add . && git commit -m "Onboard ${demo.app} on ${second.spoke}" && git push
`;

/** What a person can do next. */
export function summary(instance: Instance, { hubOnly }: { readonly hubOnly: boolean }): string {
  return `${onTheHub(instance)}${hubOnly ? "" : onSpokes(instance)}
npm run status    what runs, restarts, what is not Ready
npm test          the tests, on an instance of their own
npm run down      removes everything
Logs: ${join(instance.dir, "logs")}
`;
}
