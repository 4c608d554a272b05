import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { deployKeyAnnotations } from "../../lib/labels.ts";
import { type Repository, repositories } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { sealingScope } from "../../lib/spoke.ts";
import { writeCredential, writeOwnerOf, writeSecretOf, writeSourceOf } from "../app/auto-update.ts";
import { gitSecretOf } from "../app/folder.ts";
import { repositoryOf } from "../app/offboard.ts";
import { sshUrl } from "../app/rules.ts";
import type { FleetFacts } from "../fleet/facts.ts";
import { foldersIn, workloadsTemplate } from "../fleet/folders.ts";
import { checkoutProblems } from "../folder.ts";
import { noteAt } from "../sealing/deploy-key-notes.ts";
import { clusterProblems } from "../sealing/seal-rules.ts";
import { requireSpoke } from "../spoke/keys.ts";
import { readSpoke } from "../spoke/sealed-spoke.ts";
import { fluxNamespace } from "../spoke/secrets.ts";
import { choiceProblems, refuse, together } from "../usage.ts";

/** Who reads Git with deploy keys of their own: a spoke the fleet's repositories, an application on it its team's. */

export const name = "rotate-deploy-key";

/** A deploy key, where it is sealed. */
export interface Place {
  /** The repository that it opens; undefined where the hub's stack was not asked. */
  readonly url: string | undefined;
  /** Of the GitRepository and of its Secret. */
  readonly namespace: string;
  readonly source: string;
  readonly secret: string;
  /** The SealedSecret, from the top of the checkout. */
  readonly file: string;
  /** The fleet's repository whose host keys are trusted. */
  readonly trusted: Repository;
  /** How its keys are called. */
  readonly owner: string;
  /** Whether it may write, for the commits of new images. */
  readonly isForWriting?: boolean;
}

export interface Holder {
  /** As the command line names it. */
  readonly target: string;
  readonly checkout: string;
  /** What the checkout is of. */
  readonly repository: Repository;
  readonly fleet: FleetFacts;
  /** The scope that its cluster opens. */
  readonly scope: string;
  readonly places: readonly Place[];
}

export interface Wanted {
  /** `<spoke>`, or `<spoke>/<application>`. */
  readonly target: string;
  readonly checkout: string;
  /** The checkout of gitops-system, for an application. */
  readonly system: string | undefined;
}

type Connect = () => Promise<FleetFacts>;

/** The problems of keys that are not there, or open nothing over SSH. */
function placeProblems({ checkout, places }: Holder): Problem[] {
  const key = "<spoke>";
  return places.flatMap(({ file, url, source }): Problem[] => {
    const path = join(checkout, file);
    const isThere = existsSync(path);
    if (isThere && url !== undefined && sshUrl(url) === undefined)
      return [
        {
          ...{ key, what: `reads ${source} without a deploy key`, got: shown(url), allowed: "an ssh:// URL" },
          remedy: "renew its token or the key of its GitHub App: docs/guides/git-access.md#renew-the-credential",
        },
      ];
    if (isThere && noteAt(path) !== undefined) return [];
    const what = `has no sealed ${isThere ? "deploy key" : "credential"} for ${source} in this checkout`;
    return [
      {
        ...{ key, what, got: isThere ? `${file} without ${deployKeyAnnotations.publicKey}` : `no file ${file}` },
        allowed: "the SealedSecret that fleet new-cluster or fleet onboard wrote",
        remedy:
          "pull the checkout, or make the credential first: fleet reseal for a spoke, fleet onboard for an application",
      },
    ];
  });
}

async function spokeHolder({ target, checkout }: Wanted, connect: Connect, told: readonly Problem[]): Promise<Holder> {
  requireSpoke(name, checkout, target, told);
  const fleet = await connect();
  const { folder, environment, sealing } = await readSpoke(name, checkout, fleet.name, target, "<spoke>");
  const below = relative(checkout, folder);
  return {
    ...{ target, checkout, fleet, repository: "gitops-system" },
    scope: sealingScope({ name: target, environment, sealing }),
    places: repositories.map((repository) => ({
      ...{ url: fleet.repositoryUrls?.[repository], trusted: repository, namespace: fluxNamespace },
      owner: `${target}@${fleet.name}`,
      ...{ source: repository, secret: repository, file: join(below, "secrets", `${repository}.yaml`) },
    })),
  };
}

/** The problems of an application that no cluster has in a checkout of gitops-workloads. */
function appProblems(checkout: string, target: string): Problem[] {
  const clusters = join(checkout, "clusters");
  const known = foldersIn(clusters).flatMap((spoke) =>
    foldersIn(join(clusters, spoke)).map((app) => `${spoke}/${app}`),
  );
  return choiceProblems("<spoke>", target, known, "correct it, or pull the checkout if the application is new").map(
    (problem) => ({ ...problem, what: "is not an application on a cluster in this checkout" }),
  );
}

async function appHolder(
  { target, checkout, system }: Wanted,
  connect: Connect,
  told: readonly Problem[],
): Promise<Holder> {
  const [spoke = "", app = ""] = target.split("/");
  const notHere = checkoutProblems(checkout, "gitops-workloads", workloadsTemplate);
  const wrong = notHere.length > 0 ? notHere : appProblems(checkout, target);
  refuse(name, together(told, [...wrong, ...clusterProblems({ cluster: spoke }, { system }, "<spoke>")]));
  const fleet = await connect();
  const { environment, sealing } = await readSpoke(name, system as string, fleet.name, spoke, "<spoke>");
  const folder = join("clusters", spoke, app);
  const shared = { url: repositoryOf(checkout, folder), trusted: "gitops-workloads", namespace: app } as const;
  const reading: Place = {
    ...{ ...shared, owner: `${app}@${spoke}` },
    ...{ source: app, secret: gitSecretOf(app), file: join(folder, "credential.yaml") },
  };
  const writing: Place = {
    ...{ ...shared, owner: writeOwnerOf(app, spoke), isForWriting: true },
    ...{ source: writeSourceOf(app), secret: writeSecretOf(app), file: join(folder, writeCredential) },
  };
  return {
    ...{ target, checkout, fleet, repository: "gitops-workloads" },
    places: [reading, ...(existsSync(join(checkout, writing.file)) ? [writing] : [])],
    scope: sealingScope({ name: spoke, environment, sealing }),
  };
}

/** @param told problems of the command line @throws UsageError when there is nobody of that name who has deploy keys */
export async function holderOf(wanted: Wanted, connect: Connect, told: readonly Problem[]): Promise<Holder> {
  const holder = await (wanted.target.includes("/") ? appHolder : spokeHolder)(wanted, connect, told);
  refuse(name, placeProblems(holder));
  return holder;
}
