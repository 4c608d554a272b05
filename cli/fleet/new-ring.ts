import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { stringify } from "yaml";
import { hubFolder, ringsPolicy } from "../../lib/layout.ts";
import type { Problem } from "../../lib/problems.ts";
import { ringComposition } from "../../lib/rings.ts";
import { checkoutProblems, instantiate, withItem } from "../folder.ts";
import { readLine } from "../line.ts";
import { type Ring, readPolicy } from "../rollouts/policy.ts";
import { refuse, together } from "../usage.ts";
import { chosenFleetProblems, foldersIn } from "./folders.ts";

export const summary = "write the files of a ring of spokes in gitops-system";

export const help = `Usage: fleet new-ring <name> [--soak DURATION] [--max-unavailable N] [--after RING] [options]

Makes clusters/<fleet>/rings/<name>.yaml, what the hub needs for the ring, in a checkout of gitops-system, and adds the ring to
clusters/<fleet>/kustomization.yaml and rings.yaml, where the order of rings and their rules are.

  --soak DURATION        how long the ring must have been healthy before the next one gets what it has, such as 24h; default: 2h
  --max-unavailable N    how many of its spokes may be unhealthy: a number, or a share such as 10%; default: none
  --after RING           the ring before; default: the last one
  --fleet NAME           default: the only fleet in clusters/
  --repository DIR       the checkout to write into; default: the current folder

Example:
  fleet new-ring canary --soak 1h --max-unavailable 0
`;

export const options = {
  soak: { type: "string" },
  "max-unavailable": { type: "string" },
  after: { type: "string" },
  fleet: { type: "string" },
  repository: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export interface RingRequest {
  readonly name: string;
  readonly soak: string | undefined;
  readonly maxUnavailable: string | undefined;
  readonly after: string | undefined;
  readonly fleet: string | undefined;
}

const template = join("templates", "ring");

const header = `# The rings of this fleet's spokes, in the order in which a change of the platform reaches them: fleet rollouts.
# Flux does not apply this file.
`;

const readText = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

/** A ring as it stands in the file. */
const entryOf = ({ name, soak, maxUnavailable }: RingRequest) => ({
  name,
  ...(soak === undefined ? {} : { soak }),
  ...(maxUnavailable === undefined
    ? {}
    : { maxUnavailable: /^\d+$/.test(maxUnavailable) ? Number(maxUnavailable) : maxUnavailable }),
});

const flags: Readonly<Record<string, string>> = {
  "rings[0].name": "<name>",
  "rings[0].soak": "--soak",
  "rings[0].maxUnavailable": "--max-unavailable",
};

/** The problems of the flags by themselves, by the rules of the file. */
function formProblems(request: RingRequest): Problem[] {
  const read = readPolicy(stringify({ rings: [entryOf(request)] }));
  return "problems" in read ? read.problems.map((each) => ({ ...each, key: flags[each.key] ?? each.key })) : [];
}

/** The rings that a fleet has. @throws UsageError when its file is wrong. */
function ringsOf(checkout: string, fleet: string): readonly Ring[] {
  const path = join(checkout, ringsPolicy(fleet));
  if (!existsSync(path)) return [];
  const read = readPolicy(readText(path));
  if ("rings" in read) return read.rings;
  refuse(
    "new-ring",
    read.problems.map((each) => ({ ...each, key: `${ringsPolicy(fleet)}: ${each.key}` })),
  );
  return [];
}

/** The problems of the request beside what there is. */
function placeProblems({ name, after }: RingRequest, checkout: string, fleet: string): Problem[] {
  const fleets = foldersIn(join(checkout, "clusters"));
  const taken = fleets.filter((each) => ringsOf(checkout, each).some((ring) => ring.name === name));
  const known = ringsOf(checkout, fleet).map((ring) => ring.name);
  return [
    ...taken.map((each) => ({
      key: "<name>",
      what: `is a ring of the fleet ${each} already`,
      got: name,
      allowed: "a name that no fleet of the repository has for a ring: the branch is called by it",
      remedy: "choose another name; to change a ring, edit rings.yaml",
    })),
    ...(after === undefined || known.includes(after)
      ? []
      : [
          {
            key: "--after",
            what: `is not a ring of the fleet ${fleet}`,
            got: after,
            allowed: known.join(", ") || "(none)",
            remedy: "choose one, or leave it out to make the last ring",
          },
        ]),
  ];
}

/** The fleet that gets the ring, and every problem of the request beside what the fleet has. */
function fleetOf(request: RingRequest, checkout: string): { readonly fleet: string; readonly problems: Problem[] } {
  const fleets = foldersIn(join(checkout, "clusters"));
  const problems = chosenFleetProblems(request.fleet, fleets, checkout);
  const fleet = request.fleet ?? fleets[0] ?? "";
  return { fleet, problems: problems.length > 0 ? problems : placeProblems(request, checkout, fleet) };
}

/**
 * Makes a ring in a checkout of gitops-system.
 * @param told problems of the command line
 * @returns the paths that were written, from the top of the checkout.
 * @throws UsageError that lists every problem; then nothing was changed.
 */
export async function newRing(
  checkout: string,
  request: RingRequest,
  told: readonly Problem[] = [],
): Promise<string[]> {
  const notHere = checkoutProblems(checkout, "gitops-system", template);
  const ofLine = together(told, [...notHere, ...formProblems(request)]);
  if (notHere.length > 0) refuse("new-ring", ofLine);
  const { fleet, problems } = fleetOf(request, checkout);
  refuse("new-ring", together(ofLine, problems));
  const { name, after } = request;
  const made = await instantiate(checkout, template, { ring: name, fleet });
  const file = `rings/${name}.yaml`;
  const kustomization = join(hubFolder(fleet), "kustomization.yaml");
  const rings = readText(join(checkout, ringsPolicy(fleet)));
  const position =
    after === undefined ? undefined : ringsOf(checkout, fleet).findIndex((ring) => ring.name === after) + 1;
  const files = {
    [join(hubFolder(fleet), file)]: made["ring.yaml"] ?? "",
    [kustomization]: withItem(readText(join(checkout, kustomization)), "resources", file),
    [ringsPolicy(fleet)]: withItem(rings || `${header}rings:\n`, "rings", entryOf(request), position),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }
  return Object.keys(files);
}

export async function run(argv: readonly string[]): Promise<number> {
  const { values, args, problems } = readLine("new-ring", argv, options, { arguments: ["name"] });
  const { name } = args;
  const checkout = resolve(values.repository ?? ".");
  const { soak, after, fleet, "max-unavailable": maxUnavailable } = values;
  const files = await newRing(checkout, { name, soak, maxUnavailable, after, fleet }, problems);
  console.log(`Made the ring ${name}: ${files.join(", ")}. Next, in ${checkout}:
  git add ${files.join(" ")} && git commit -m "Add ring ${name}" && git push
  fleet rollouts --promote     makes the branch ring/${name}
Then new spokes join it by fleet new-cluster --ring ${name}, others by two fields of their spoke.yaml:
  spec:
    ring: ${name}
    crossplane:
      compositionRef:
        name: ${ringComposition(name)}`);
  return 0;
}
