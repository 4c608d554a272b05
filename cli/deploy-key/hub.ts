import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { spokeFolder } from "../../lib/layout.ts";
import { type Repository, repositories } from "../../lib/names.ts";
import { spokesIn } from "../fleet/folders.ts";
import { readOutputs, type stackOutputs } from "../fleet/outputs.ts";
import { isSameKey, noteAt } from "../sealing/deploy-key-notes.ts";
import { UsageError } from "../usage.ts";

/** The fleet's own deploy keys, with which the hub reads and every spoke that has none of its own. Pulumi makes them. */

const outputsSchema = z.object({
  bridgeData: z.looseObject({
    fleet: z.string(),
    gitops_system_repo_url: z.string(),
    gitops_workloads_repo_url: z.string(),
  }),
  deployPublicKeys: z.partialRecord(z.enum(repositories), z.string()).default({}),
});

type Keys = Readonly<Partial<Record<Repository, string>>>;

/** The URN of a key in the state (infra/index.ts and components/git-credentials.ts name it). */
export const urnOf = (stack: string, project: string, repository: Repository): string =>
  `urn:pulumi:${stack.split("/").at(-1)}::${project}::eks-gitops-fleet:index:GitCredentials$tls:index/privateKey:PrivateKey::git-${repository}-key`;

interface Readers {
  /** Those that read with the fleet's keys. */
  readonly spokes: readonly string[];
  /** Keys of the fleet that they read with, and that the stack does not have any more. */
  readonly former: readonly (readonly [Repository, string])[];
}

/** Who in a checkout of gitops-system reads with the fleet's keys. */
function readersOf(checkout: string, fleet: string, keys: Keys): Readers {
  const read = spokesIn(checkout, fleet).map((spoke) => {
    const files = repositories.map(
      (repository) => [repository, join(checkout, spokeFolder(fleet, spoke), "secrets", `${repository}.yaml`)] as const,
    );
    // Only keys that the commands created have a day.
    const ofFleet = files.flatMap(([repository, file]) => {
      const noted = existsSync(file) ? noteAt(file) : undefined;
      return noted === undefined || noted.made !== undefined ? [] : [[repository, noted.publicKey] as const];
    });
    const former = ofFleet.filter(([repository, publicKey]) => !isSameKey(publicKey, keys[repository] ?? ""));
    return { spokes: ofFleet.length > 0 ? [spoke] : [], former };
  });
  const former = new Map(read.flatMap((each) => each.former).map((pair) => [pair[1], pair]));
  return { spokes: read.flatMap((each) => each.spokes), former: [...former.values()] };
}

interface Asked {
  readonly stack: string;
  /** The name in Pulumi.yaml. */
  readonly project: string;
  /** A checkout of gitops-system. */
  readonly checkout: string;
  readonly ask: typeof stackOutputs;
}

/** How a person replaces the fleet's keys. @throws UsageError where the fleet has none */
export async function hubSteps({ stack, project, checkout, ask }: Asked): Promise<string> {
  const { bridgeData, deployPublicKeys: keys } = readOutputs(outputsSchema, await ask({ stack }));
  const urls: Readonly<Record<Repository, string>> = {
    "gitops-system": bridgeData.gitops_system_repo_url,
    "gitops-workloads": bridgeData.gitops_workloads_repo_url,
  };
  const named = Object.entries(keys) as [Repository, string][];
  if (named.length === 0)
    throw new UsageError(
      `fleet ${bridgeData.fleet} has no deploy keys: its gitAuthentication is token or github-app. docs/guides/git-access.md#renew-the-credential says how these are renewed`,
    );
  const urns = named.map(([repository]) => `'${urnOf(stack, project, repository)}'`);
  const { spokes, former } = readersOf(checkout, bridgeData.fleet, keys);
  const isUnderWay = former.length > 0;
  const intro = isUnderWay
    ? `Spokes of this checkout still read with former keys of fleet ${bridgeData.fleet}: a rotation is under way. Go on with step 3; this command changes nothing.`
    : `Pulumi makes the deploy keys of fleet ${bridgeData.fleet}, so this command changes nothing. Keep what it says: step 5 needs the present keys.`;
  const reseal =
    spokes.length === 0
      ? "No spoke of this checkout reads with them."
      : `Seal the new ones for each spoke that reads with them; wait until it is Ready:
${spokes.map((spoke) => `   fleet reseal ${spoke} --deploy-keys fleet --stack ${stack} --repository ${checkout}     commit, push`).join("\n")}`;
  return `${intro}
1. With protect on in the stack, which comes back by itself:
${urns.map((urn) => `   pulumi state unprotect --yes --stack ${stack} ${urn}`).join("\n")}
2. pulumi up --stack ${stack} ${urns.map((urn) => `--replace ${urn}`).join(" ")}
3. At once register the new ones, read-only, beside the present ones, at ${named.map(([repository]) => urls[repository]).join(" and ")}:
   pulumi stack output --stack ${stack} --json deployPublicKeys
   The hub takes them within the hour. If it does before they are registered, it sees no new commits until they are; all else goes on. Now:
   kubectl --context <hub> -n flux-system annotate externalsecret gitops-system force-sync="$(date +%s)" --overwrite
   kubectl --context <hub> -n flux-system get gitrepository gitops-system     READY is True
4. ${reseal}
5. When the hub and all of these read with the new ones, remove at the Git host:
${(isUnderWay ? former : named).map(([repository, key]) => `   at ${urls[repository]}:\n     ${key}`).join("\n")}`;
}
