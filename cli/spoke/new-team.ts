import { resolve } from "node:path";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { readLine } from "../line.ts";
import { newTeam } from "./team.ts";
import { workloadsBeside, workloadsProblems } from "./workloads.ts";

export const summary = "give a team's IAM roles access to its namespaces on spokes, in gitops-system";

export const help = `Usage: fleet new-team <team> --cluster NAME --namespace NAME --role ARN=ACCESS [options]

Adds the team to spec.teams of spokes/<fleet>/<cluster>/spoke.yaml in a checkout of gitops-system; what is there stays. Commit and
push it, and EKS lets the roles into these namespaces and no others. <team> is what fleet onboard got as --tenant.

  --cluster NAME         a spoke; can be given more than once
  --namespace NAME       a namespace of the team's: an application's of that name; can be given more than once
  --role ARN=ACCESS      an IAM role of the team's members, and what they may do there: view, edit or admin; can be given more
                         than once
  --workloads DIR        the checkout of gitops-workloads, in which the namespaces are looked up; default: gitops-workloads beside
                         the checkout of gitops-system, if it is there
  --fleet NAME           default: the only fleet in clusters/
  --repository DIR       the checkout to write into; default: the current folder
${changeHelp}

Example:
  fleet new-team payments --cluster green --namespace shop --role arn:aws:iam::123456789012:role/payments=edit
`;

export const options = {
  ...changeOptions,
  cluster: { type: "string", multiple: true },
  namespace: { type: "string", multiple: true },
  role: { type: "string", multiple: true },
  workloads: { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, problems } = readLine("new-team", argv, options, {
    arguments: ["team"],
    required: { cluster: "a spoke", namespace: "a namespace of the team's", role: "ARN=view, ARN=edit or ARN=admin" },
  });
  const name = args.team;
  const { cluster: clusters, namespace: namespaces, role: roles } = values;
  const checkout = resolve(values.repository ?? ".");
  const workloads = workloadsBeside(checkout, values.workloads);
  const request = { name, clusters, namespaces, roles };
  const told = [...problems, ...wishProblems(values, [checkout]), ...workloadsProblems(values.workloads)];
  const { fleet, files } = await newTeam(checkout, request, { fleet: values.fleet, workloads }, told);
  if (workloads === undefined)
    console.error(
      "Note: it was not checked whether the clusters have these namespaces, because there is no checkout of gitops-workloads beside this one; name one with --workloads",
    );
  if (files.length === 0) {
    console.log(`Nothing to change: ${name} has this access on ${clusters.join(", ")}`);
    return 0;
  }
  const subject = `Give team ${name} access to its namespaces`;
  const proposal = { repository: "gitops-system", checkout, files, subject } as const;
  const next = `kubectl -n spokes get spoke ${clusters.join(" ")} --output wide     Ready again: its members have the access
Its members then connect as docs/guides/clusters.md#reach-a-cluster-with-kubectl says, from a network that the cluster's API server admits:
  aws eks update-kubeconfig --region <region> --name <fleet>-spoke-<cluster> --role-arn <their role>
  kubectl --namespace ${namespaces[0]} get pods`;
  await carryOut("new-team", [proposal], values, {
    ...{ fleet, next, programs: using },
    beside: { "gitops-workloads": workloads },
  });
  return 0;
}
