import { relative, resolve } from "node:path";
import type { Sealing } from "../lib/spoke.ts";
import { onboardApp } from "./app-folder.ts";
import { fleetFrom, sourceHelp, sourceOptions } from "./sources.ts";
import { flagFile, onePositional, parsed, requiredFlags } from "./usage.ts";

export const summary = "a folder for an application on a spoke in gitops-workloads, with a sealed deploy key";

const help = `Usage: npx fleet onboard <app> --cluster NAME --environment NAME --tenant NAME --repository-url URL [options]

Makes clusters/<cluster>/<app> in a checkout of gitops-workloads. Register the deploy key that it prints, commit and push.

  --cluster NAME         the spoke
  --environment NAME     its environment: selects the key that its secrets are sealed with, and the overlay
  --sealing SCOPE        spec.sealing of its Spoke: environment (default) or cluster, a sealing key of the spoke's own; must be
                         named where the fleet has a key of scope cluster-<cluster>
  --tenant NAME          team that owns the application
  --repository-url URL   the team's repository, ssh://…
  --revision BRANCH      default: main
  --path PATH            what Flux applies of it; default: ./overlays/<environment>
  --known-hosts FILE     host keys of the team's Git host; default: those of gitops-workloads
${sourceHelp}
`;

const options = {
  ...sourceOptions,
  cluster: { type: "string" },
  environment: { type: "string" },
  sealing: { type: "string" },
  tenant: { type: "string" },
  "repository-url": { type: "string" },
  revision: { type: "string", default: "main" },
  path: { type: "string" },
  "known-hosts": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parsed("onboard", argv, options);
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const app = onePositional("onboard", "app", positionals);
  const required = requiredFlags("onboard", values, ["cluster", "environment", "tenant", "repository-url"]);
  const { cluster, environment, tenant, "repository-url": repositoryUrl } = required;
  const path = values.path ?? `./overlays/${environment}`;
  const checkout = resolve(values.repository ?? ".");
  const { folder, publicKey } = await onboardApp(
    checkout,
    {
      ...{ app, cluster, environment, tenant, repositoryUrl, revision: values.revision, path },
      // Compared with what is allowed before anything else looks at it.
      sealing: values.sealing as Sealing | undefined,
    },
    () => fleetFrom(values),
    await flagFile(values["known-hosts"]),
  );
  const made = relative(checkout, folder);
  console.log(`Made ${folder}. Next:
1. Register this read-only deploy key at ${repositoryUrl}:
   ${publicKey}
2. In ${checkout}: git add ${made} && git commit -m "Onboard ${app} on ${cluster}" && git push
3. kubectl --context <cluster> -n ${app} get gitrepository,kustomization     how far it is`);
  return 0;
}
