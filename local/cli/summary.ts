import { join } from "node:path";
import { appUrl } from "../app/process.ts";
import { quote } from "../instance/command.ts";
import type { Instance } from "../instance/index.ts";
import { demo, deployerArn, machineCidr, sshUrlOf } from "./demo.ts";
import type { Door } from "./doors.ts";
import { isSpokeReady, type Spoke, spokeLine } from "./spokes.ts";

const second = { spoke: "green", environment: "prod" };

/** What runs at the end of `npm start`. */
export interface Present {
  readonly spokes: readonly Spoke[];
  /** The load balancers of Ingresses that face the internet. */
  readonly doors: readonly Door[];
  /** Names of the spokes for which gitops-workloads has the demo's application. */
  readonly withApp: readonly string[];
}

/** Commands that clone repositories, side by side, and end in the last one. Into a new folder, joined: pasted twice they must not go on elsewhere. */
const cloned = ({ git }: Instance["paths"], ...repositories: readonly string[]) =>
  [
    'cd "$(mktemp -d)"',
    ...repositories.map((name) => `git clone ${quote(join(git, `${name}.git`))}`),
    `cd ${repositories.at(-1)}`,
  ].join(" && ");

/** What a person can do with the hub. */
const onTheHub = ({ paths, awsEndpoint }: Instance) => `
The hub is running. To use it from this shell:
  . ${quote(paths.env)}

  kubectl get pods -A                       the hub's pods; kubeconfig: ${paths.kubeconfig}
  kubectl get kustomizations -n flux-system what Flux applies
  pulumi up                                 the same program again: no changes
  pulumi stack output                       deploy keys, sealing certificates, the GitOps bridge
  aws eks describe-cluster --name fleet-hub the AWS API, on ${awsEndpoint}
  fleet doctor --stack local                checks the stack, its logins, quotas and Git server

Push a change, Flux applies it:
  ${cloned(paths, "gitops-system")}
  # edit, for example platform/cluster-info/cluster-info.yaml
  git commit -am "Say hello" && git push
  kubectl get configmap cluster-info -n flux-system -o yaml
`;

/** One line on a load balancer. */
export const doorLine = ({ ingress, url }: Door): string =>
  `  ${url.padEnd(41)} the load balancer of Ingress ${ingress}\n`;

/** How a spoke is, and what a person can do with it. */
function onSpoke(instance: Instance, spoke: Spoke, { withApp, doors }: Present): string {
  const { name } = spoke.metadata;
  if (!isSpokeReady(spoke))
    return `
Spoke ${spokeLine(spoke)}
  kubectl get spoke ${name} -n spokes --watch --output wide
`;
  const cluster = spoke.status?.cluster?.name ?? `fleet-spoke-${name}`;
  const context = `kubectl --context ${cluster}`;
  const open = doors.filter((door) => door.cluster === cluster).map(doorLine);
  const title = `Spoke ${name}${spoke.spec.environment === undefined ? "" : ` (${spoke.spec.environment})`} is running`;
  if (!withApp.includes(name))
    return `
${title}:
  ${context} get pods -A
${open.join("")}`;
  if (name === demo.spoke)
    return `
${title}; gitops-workloads puts ${demo.app} on it. Open it in a browser on this machine:
  ${appUrl(instance)}
  ${context} -n ${demo.app} get tables,queues,pods
${open.join("")}`;
  return `
${title}; gitops-workloads puts ${demo.app} on it:
  ${context} -n ${demo.app} port-forward service/${demo.app} 9898:http   and in another shell:
  curl http://localhost:9898/api/info
  ${context} -n ${demo.app} get tables,queues,pods
${open.join("")}`;
}

const addSpoke = ({ paths }: Instance) => `
Add a spoke, of another environment:
  ${cloned(paths, "gitops-system")} &&
  fleet new-cluster ${second.spoke} --environment ${second.environment} --tenant ${demo.tenant} --nodes 1 \\
    --admin ${deployerArn} --public-access-cidr ${machineCidr} &&
  git add . && git commit -m "Add spoke ${second.spoke}" && git push
  kubectl get spoke ${second.spoke} -n spokes --watch --output wide
  npm start                                 adds it to the kubeconfig (in the project's folder)
`;

const addApp = ({ paths }: Instance) => `
Put the application on ${second.spoke}:
  ${cloned(paths, "gitops-system", "gitops-workloads")} &&
  fleet onboard ${demo.app} --cluster ${second.spoke} --environment ${second.environment} --tenant ${demo.tenant} \\
    --repository-url ${sshUrlOf(demo.appRepository)} &&
  git add . && git commit -m "Onboard ${demo.app} on ${second.spoke}"
  deploy-key ${demo.appRepository} '<the key that it printed>' && git push
`;

/** What runs, and what a person can do next: of that, only what is not done yet. */
export function summary(instance: Instance, present: Present): string {
  const has = present.spokes.some(({ metadata }) => metadata.name === second.spoke);
  return [
    onTheHub(instance),
    ...present.spokes.map((spoke) => onSpoke(instance, spoke, present)),
    ...(has ? [] : [addSpoke(instance)]),
    ...(present.withApp.includes(second.spoke) ? [] : [addApp(instance)]),
    `
npm run status    what runs, restarts, what is not Ready
npm test          checks, tests and one story of a fleet, on a temporary instance
npm run down      removes everything
Logs: ${join(instance.dir, "logs")}
`,
  ].join("");
}
