import { join, resolve } from "node:path";
import { kubernetesVersions } from "../../components/versions.ts";
import { keys } from "../../infra/settings.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { ecrPlace } from "../../lib/registries.ts";
import { fetched } from "../doctor/references.ts";
import { readLine } from "../line.ts";
import { projectRoot } from "../project.ts";
import { projectReferences } from "../upstream/project.ts";
import { folderProblems, refuse, together } from "../usage.ts";
import { chartReleases } from "./releases.ts";
import { type Cacheable, cacheable, mirrorScript } from "./script.ts";
import { everyStack, oneStack } from "./stacks.ts";

export const summary = "print a script that copies what clusters pull to a registry";

export const help = `Usage: fleet mirror --registry REGISTRY [--stack NAME] [--repositories DIR]
                    [--pull-through HOST[=ARN]]...

Prints a shell script that copies all charts, Crossplane packages and images that a hub and its spokes pull to one registry, where
the stack's key registry expects them. It reads this project and changes nothing. The script needs helm 3, crane, a login to the
registry, and for Amazon ECR the AWS CLI: there it logs in, and creates the repositories.

  --registry REGISTRY  host, or host/path, as the stack's key registry
  --stack NAME         copy the composition function from the functionPackage of this stack, by stacks/Pulumi.NAME.yaml, and
                       create repositories with its tags; default: from that of every stack that sets it, and no tags
  --repositories DIR   directory that contains gitops-system; default: the project's repos/
  --pull-through HOST[=ARN]
                       let a pull-through cache of Amazon ECR fetch the images of this upstream registry: the script creates its
                       rule and the repositories only. One of ${Object.keys(cacheable).join(", ")}.
                       ARN is the secret in Secrets Manager with the credential, which docker.io and ghcr.io require. Can be
                       given more than once

The script leaves out the images of EKS's own add-ons, and those of applications.

Example:
  fleet mirror --registry 123456789012.dkr.ecr.eu-central-1.amazonaws.com/mirror --stack pilot > mirror.sh
`;

export const options = {
  registry: { type: "string" },
  stack: { type: "string" },
  repositories: { type: "string" },
  "pull-through": { type: "string", multiple: true },
  help: { type: "boolean", short: "h" },
} as const;

/** Files of the platform: what applications pull is not taken from the mirror. */
const ofPlatform = /(^|\/)gitops-system\//;
/** Images of pipelines have none; in a mirror each name begins with its host. A name that begins with - would be an option of crane. */
const hasHost = /^[A-Za-z0-9][^/]*[.:][^/]*\//;

/** Longest prefix of a pull-through cache (ECR API Reference, CreatePullThroughCacheRule). */
const longestPrefix = 30;

function registryProblems(registry: string): Problem[] {
  if (registry !== "" && keys.registry.parse(registry) !== undefined) return [];
  return [
    {
      key: "--registry",
      what: "is not a registry",
      got: shown(registry),
      allowed: keys.registry.allowed,
      remedy: "give it as the stack's key registry has it",
    },
  ];
}

function cacheProblems(written: string, registry: string): Problem[] {
  const [host = "", secret = ""] = written.split("=");
  const problem = (what: string, allowed: string, remedy: string) => [
    { key: "--pull-through", what, got: shown(written), allowed, remedy },
  ];
  if (!Object.hasOwn(cacheable, host))
    return problem("names no registry that Amazon ECR caches", Object.keys(cacheable).join(", "), "leave it out");
  if (ecrPlace(registry) === undefined)
    return problem("is for Amazon ECR", "a --registry in Amazon ECR", "leave it out, or name one");
  const { needsCredential } = cacheable[host as Cacheable];
  if (
    needsCredential &&
    !/^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:ecr-pullthroughcache\/.+$/.test(secret)
  )
    return problem(
      "has no secret with the credential that it requires",
      `${host}=<ARN of a secret whose name begins with ecr-pullthroughcache/>`,
      "create the secret in the registry's account and region, and give its ARN",
    );
  const prefix = [...registry.split("/").slice(1), host].join("/");
  return prefix.length <= longestPrefix
    ? []
    : problem(
        `makes the prefix ${prefix}, which is too long for Amazon ECR`,
        `${longestPrefix} characters`,
        "use a shorter path in --registry",
      );
}

export async function run(argv: readonly string[]): Promise<number> {
  const { values, problems } = readLine("mirror", argv, options, {
    required: { registry: "<host>/<path>" },
  });
  const { registry = "", repositories, stack, "pull-through": caches = [] } = values;
  const wrongRegistry = registry === "" ? [] : registryProblems(registry);
  refuse(
    "mirror",
    together(problems, [
      ...wrongRegistry,
      ...folderProblems(
        "--repositories",
        repositories === undefined ? undefined : join(repositories, "gitops-system"),
        "a directory that contains a clone of gitops-system",
      ),
      ...(wrongRegistry.length > 0 ? [] : caches.flatMap((cache) => cacheProblems(cache, registry))),
    ]),
  );
  const root = projectRoot();
  const {
    functionPackage,
    tags,
    problems: ofStack,
  } = await (stack === undefined ? everyStack(root) : oneStack(root, stack));
  refuse("mirror", ofStack);
  const folder = repositories === undefined ? join(root, "repos") : resolve(repositories);
  const host = `${registry.split("/")[0]}/`;
  const named = fetched(projectReferences(root, { functionPackage }, folder).references, {}).flatMap((target) =>
    "reference" in target && target.origins.some((origin) => ofPlatform.test(origin)) ? [target.reference] : [],
  );
  const images = [...new Set(named)].filter((reference) => hasHost.test(reference) && !reference.startsWith(host));
  const { charts, problems: ofCharts } = chartReleases(folder);
  refuse("mirror", ofCharts);
  const script = mirrorScript({
    registry,
    charts,
    images,
    tags,
    caches: new Map(caches.map((cache) => [cache.split("=")[0] as Cacheable, cache.split("=")[1] ?? ""])),
    kubernetesVersion: kubernetesVersions.at(-1) as string,
  });
  process.stdout.write(script);
  return 0;
}
