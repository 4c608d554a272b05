import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { carryOut } from "../change/carry-out.ts";
import { programs } from "../change/effect.ts";
import { type Proposal, removalOf } from "../change/files.ts";
import { changeHelp, changeOptions, wishProblems } from "../change/options.ts";
import { confirmationProblems, keptOfOrders, list, removalHelp, removalOptions } from "../change/removal.ts";
import { fleetsOf, foldersIn, spokesIn, workloadsTemplate } from "../fleet/folders.ts";
import { checkoutProblems } from "../folder.ts";
import { readLine } from "../line.ts";
import { contentsOf, isFolder, isManifest } from "../render/files.ts";
import { nextFile, noteAt, ownerOf } from "../sealing/deploy-key-notes.ts";
import { openSpoke } from "../spoke/file.ts";
import type { WrittenTeam } from "../spoke/team-rules.ts";
import { choiceProblems, refuse, together } from "../usage.ts";
import { writeCredential } from "./auto-update.ts";
import { systemBeside, systemProblems } from "./system.ts";

export const summary = "remove an application from spokes, in gitops-workloads";

export const help = `Usage: fleet offboard <app> --cluster NAME --yes [options]

Removes clusters/<cluster>/<app>, which fleet onboard made, from a checkout of gitops-workloads, and says what goes in AWS, what
stays, and what is left to do at the Git host and in gitops-system.

  --cluster NAME         a spoke; can be given more than once
  --system DIR           the checkout of gitops-system, in which teams with access to the namespace are looked up; default:
                         gitops-system beside the checkout of gitops-workloads, if it is there
  --repository DIR       the checkout of gitops-workloads; default: the current folder
${removalHelp}
${changeHelp}

Example:
  fleet offboard shop --cluster green --dry-run
`;

export const options = {
  ...changeOptions,
  ...removalOptions,
  cluster: { type: "string", multiple: true },
  system: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const folderOf = (cluster: string, app: string): string => join("clusters", cluster, app);

function placeProblems(checkout: string, app: string, clusters: readonly string[]): Problem[] {
  const known = foldersIn(join(checkout, "clusters"));
  return clusters.flatMap((cluster) => {
    const unknown = choiceProblems("--cluster", cluster, known, "name a cluster with a folder in clusters/");
    if (unknown.length > 0) return unknown;
    const apps = foldersIn(join(checkout, "clusters", cluster));
    return choiceProblems("<app>", app, apps, `name an application of ${cluster}, or another --cluster`);
  });
}

/** The URL of an application's repository; undefined where its folder does not say. */
export function repositoryOf(checkout: string, folder: string): string | undefined {
  const file = join(checkout, folder, "sync.yaml");
  const objects = existsSync(file) ? contentsOf(file).filter(isManifest) : [];
  return objects.find(({ kind }) => kind === "GitRepository")?.spec?.url;
}

/** The Spokes whose teams have access to the namespace. */
function teamsWith(system: string, app: string, cluster: string): string[] {
  return fleetsOf(system, cluster)
    .filter((fleet) => spokesIn(system, fleet).includes(cluster))
    .flatMap((fleet) => {
      const file = openSpoke<{ teams: readonly WrittenTeam[] }>(system, fleet, cluster, "--cluster");
      if ("remedy" in file) return [];
      const named = (file.spec.teams ?? []).filter(({ namespaces }) => namespaces.includes(app));
      return named.map(({ name }) => `take ${app} out of the team ${name} in ${file.path} of gitops-system`);
    });
}

/** The names at the Git host of a deploy key that lies in a file: while one takes the place of another there are two. */
function deployKeysIn(file: string): string[] {
  const noted = [file, nextFile(file)].filter((path) => existsSync(path)).flatMap((path) => noteAt(path) ?? []);
  const keys = noted.flatMap(({ publicKey, former }) => [publicKey, ...(former === undefined ? [] : [former])]);
  return [...new Set(keys.map(ownerOf))];
}

/** The names of the application's deploy keys: the one that reads, and the one that may write, if it has that. */
function deployKeysOf(checkout: string, app: string, cluster: string): string[] {
  const folder = join(checkout, folderOf(cluster, app));
  return ["credential.yaml", writeCredential].flatMap((file) => deployKeysIn(join(folder, file)));
}

/** What is left to do for a person when the folder is gone. */
function leftToDo(checkout: string, app: string, cluster: string, system: string | undefined): string[] {
  const folder = folderOf(cluster, app);
  const url = repositoryOf(checkout, folder);
  const host = url ?? "the team's Git host";
  return [
    ...(url?.startsWith("https:")
      ? []
      : deployKeysOf(checkout, app, cluster).map((name) => `remove the deploy key ${name} at ${host}`)),
    ...(isFolder(join(checkout, folder, "receiver")) ? [`remove the webhook for ${app} on ${cluster} at ${host}`] : []),
    ...(system === undefined ? [] : teamsWith(system, app, cluster)),
  ];
}

const consequences = (app: string, clusters: readonly string[]): string =>
  `When this is pushed, Flux on ${clusters.join(", ")} removes, each when the one before is gone:
${list([
  `what the team's repository has in the namespace ${app}, with what it ordered in AWS: tables with their data, queues`,
  "the IAM role of its pods, the rights of its deployer, the namespace",
])}
What stays in AWS:
${list(keptOfOrders)}`;

function proposalOf(checkout: string, app: string, clusters: readonly string[], files: Proposal["files"]): Proposal {
  return {
    ...{ repository: "gitops-workloads", checkout, files, places: clusters.map((cluster) => folderOf(cluster, app)) },
    subject: `Offboard ${app} from ${clusters.join(", ")}`,
  };
}

export async function run(argv: readonly string[], using = programs): Promise<number> {
  const { values, args, problems } = readLine("offboard", argv, options, {
    arguments: ["app"],
    required: { cluster: "a spoke on which the application is" },
  });
  const { app } = args;
  const clusters = [...new Set(values.cluster)];
  const checkout = resolve(values.repository ?? ".");
  const notHere = checkoutProblems(checkout, "gitops-workloads", workloadsTemplate);
  refuse(
    "offboard",
    together(
      [...problems, ...wishProblems(values, [checkout]), ...systemProblems(values.system)],
      [
        ...notHere,
        ...(notHere.length > 0 ? [] : placeProblems(checkout, app, clusters)),
        // Last: what there is to confirm must be there.
        ...confirmationProblems(values, "what an application ordered in AWS"),
      ],
    ),
  );
  const system = systemBeside(checkout, values.system);
  const files = (await Promise.all(clusters.map((cluster) => removalOf(checkout, folderOf(cluster, app))))).flat();
  const steps = clusters.flatMap((cluster) => leftToDo(checkout, app, cluster, system));
  const gone = `kubectl --context <cluster> get namespace ${app}     not found: everything is gone`;
  const next = `Then, when Flux has removed it:\n${list([gone, ...steps])}`;
  console.log(consequences(app, clusters));
  const [fleet] = system === undefined ? [] : clusters.flatMap((cluster) => fleetsOf(system, cluster));
  await carryOut("offboard", [proposalOf(checkout, app, clusters, files)], values, {
    ...{ fleet, next, programs: using },
    beside: { "gitops-system": system },
  });
  return 0;
}
