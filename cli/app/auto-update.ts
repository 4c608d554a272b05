import { join, posix } from "node:path";
import { type Problem, shown } from "../../lib/problems.ts";
import type { FleetFacts } from "../fleet/facts.ts";
import { below, type Files, instantiate, withListed } from "../folder.ts";
import { sealCredential } from "../sealing/deploy-key.ts";
import { dayOf } from "../sealing/deploy-key-notes.ts";
import type { SealingKey } from "../sealing/seal.ts";
import type { SpokeFacts } from "./clusters.ts";
import { type AppAccess, appCredential } from "./credential.ts";
import { tokenProblems, unusedProblems } from "./flags.ts";
import type { AppRequest } from "./rules.ts";

/** New images of an application are committed to its repository: what its folder has for that. */

/** The add-on that does it. An environment that does not offer it has no image committed (docs/guides/applications.md#image-automation). */
export const imageAddon = "image_automation";

const flags = {
  image: "--auto-update",
  range: "--auto-update-range",
  token: "--auto-update-token-file",
} as const;
const template = join("templates", "app-auto-update");
/** The component in the application's folder. */
const component = "auto-update";
/** What its Kustomization applies. */
const images = join(component, "images");

/** The SealedSecret of the key that may write, from the application's folder. */
export const writeCredential = join(images, "credential.yaml");
/** The GitRepository with that key. */
export const writeSourceOf = (app: string): string => `${app}-auto-update`;
/** The Secret with it. */
export const writeSecretOf = (app: string): string => `${app}-auto-update-git`;
/** Whose key it is, as people see it at the Git host: another than the one that reads. */
export const writeOwnerOf = (app: string, cluster: string): string => `${writeSourceOf(app)}@${cluster}`;

/** Every released version; no pre-releases (Masterminds/semver, "Working With Prerelease Versions"). */
export const defaultRange = ">=0.0.0";

/** The last part of an image's name, as a name of Kubernetes. */
const imageName = (image: string): string => (image.split("/").at(-1) ?? "").replaceAll("_", "-");

/** Where an image's registry is in ECR (fluxcd/pkg/auth, aws/provider.go, registryPattern), Flux logs in with the role of the add-on. */
const providerOf = (image: string): "aws" | "generic" =>
  /^\d{12}\.dkr[.-]ecr(-fips)?\.[a-z0-9-]+\.(amazonaws\.(com(\.cn)?|eu)|on\.(aws|amazonwebservices\.com\.cn))\//.test(
    image,
  )
    ? "aws"
    : "generic";

/** Registry, then repository, without a tag. */
const imagePattern = /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+$/;
const rangePattern = /^[-0-9A-Za-z.*^~<>=!,|+ ]+$/;
/** A Kustomization's name is the value of a label on all that it applies. */
const longest = 63 - writeSourceOf("").length;

function imageProblems(asked: readonly string[]): Problem[] {
  const names = asked.map(imageName);
  const same = asked.filter((image, index) => names.indexOf(imageName(image)) !== index);
  return [
    ...asked
      .filter((image) => !imagePattern.test(image))
      .map((image) => ({
        ...{ key: flags.image, what: "is not the name of an image without a tag", got: shown(image) },
        allowed: "registry and repository, such as ghcr.io/acme/shop; for Docker Hub docker.io/acme/shop",
        remedy: "write the registry's host, and leave tag and digest out",
      })),
    ...same.map((image) => ({
      ...{ key: flags.image, what: "ends like another one: its policy would have the same name", got: image },
      ...{ allowed: "images with different last parts", remedy: "give one of them, and add the other by hand" },
    })),
  ];
}

const isWhole = (path: string): boolean => /^\.\/*$/.test(posix.normalize(path));

/** The problems of what a request says of new images. @param hasUrl whether its repository's URL is one */
export function autoUpdateProblems(request: AppRequest, access: AppAccess, hasUrl: boolean): Problem[] {
  const { app, autoUpdate: asked, autoUpdateRange: range, path, repositoryUrl } = request;
  const { autoUpdateToken: token } = access;
  if (asked === undefined)
    return unusedProblems({ [flags.range]: range, [flags.token]: token }, flags.image, `${flags.image} with an image`);
  const isHttps = hasUrl && new URL(repositoryUrl).protocol === "https:";
  return [
    ...imageProblems(asked),
    ...(range === undefined || rangePattern.test(range)
      ? []
      : [
          {
            ...{ key: flags.range, what: "is not a range of versions", got: shown(range) },
            ...{
              allowed: "such as 1.x, or >=1.0.0-0 for pre-releases too",
              remedy: `leave it out for ${defaultRange}`,
            },
          },
        ]),
    ...(isWhole(path)
      ? [
          {
            ...{ key: "--path", what: `is the whole repository, to which ${flags.image} would commit`, got: path },
            allowed: "the overlay of this environment, such as ./overlays/dev",
            remedy: "give the team's repository an overlay for each environment",
          },
        ]
      : []),
    ...(app.length > longest
      ? [
          {
            ...{ key: "<app>", what: `is too long for ${flags.image}`, got: app },
            allowed: `at most ${longest} characters: with ${component} it is the value of a label`,
            remedy: `shorten it by at least ${app.length - longest} characters, or leave ${flags.image} out`,
          },
        ]
      : []),
    ...(isHttps
      ? tokenProblems(
          flags.token,
          token,
          flags.image,
          "create one that may write the content of this repository only (docs/guides/applications.md#image-automation)",
        )
      : []),
    ...(hasUrl && !isHttps && token !== undefined
      ? [
          {
            ...{ key: flags.token, what: "does not fit an ssh:// URL, for which a deploy key is made", got: "(given)" },
            ...{ allowed: "an https:// URL", remedy: "leave it out, or change --repository-url" },
          },
        ]
      : []),
  ];
}

/** Why no image may be committed for a cluster: only its Spoke tells, by the add-on. @param facts what the Spoke says, if that is known */
export function imageAddonProblems(request: AppRequest, facts: SpokeFacts | undefined): Problem[] {
  if (request.autoUpdate === undefined || facts?.addons.includes(imageAddon)) return [];
  const { cluster, environment } = request;
  return [
    {
      key: flags.image,
      what: `needs the add-on ${imageAddon} on the spoke ${cluster}`,
      got:
        facts === undefined
          ? "(no checkout of gitops-system that says which add-ons it has)"
          : `spec.addons: [${facts.addons.join(", ")}] in ${facts.path}`,
      allowed: `a Spoke with ${imageAddon} in spec.addons, in an environment that offers it (tools/<environment>/${imageAddon})`,
      remedy:
        facts === undefined
          ? "name the checkout with --system"
          : `add it there and push, or leave ${flags.image} out where ${environment} changes by pull request only`,
    },
  ];
}

/** Files of an application, with the public half of the deploy key that may write, if there is one. */
export interface AutoUpdated {
  readonly files: Files;
  readonly writeKey?: string | undefined;
}

/** The files of an application with what commits its new images, if the request asks for that. */
export async function withAutoUpdate(
  files: Files,
  checkout: string,
  request: AppRequest,
  { access, fleet, key }: { readonly access: AppAccess; readonly fleet: FleetFacts; readonly key: SealingKey },
): Promise<AutoUpdated> {
  const { app, cluster, autoUpdate: asked, path, repositoryUrl, revision } = request;
  if (asked === undefined) return { files };
  const owner = writeOwnerOf(app, cluster);
  const token = { token: access.autoUpdateToken, username: access.username };
  const { knownHosts, caCertificate } = access;
  const { data, publicKey } = await appCredential(
    { repositoryUrl, owner },
    { knownHosts, caCertificate, ...token },
    fleet,
  );
  const secret = { namespace: app, name: writeSecretOf(app), data };
  const credential = await sealCredential(fleet.kubeseal, key, secret, { made: dayOf(new Date()) });
  const range = request.autoUpdateRange ?? defaultRange;
  const values = { app, cluster, path, repositoryUrl, revision, range };
  const made = await Promise.all(
    asked.map((image) => {
      const own = { image: imageName(image), repository: image, registryProvider: providerOf(image) };
      return instantiate(checkout, template, { ...values, ...own });
    }),
  );
  const policies = join("images", "images.yaml");
  return {
    files: {
      ...files,
      ...below(component, { ...made[0], [policies]: made.map((each) => each[policies] ?? "").join("---\n") }),
      [writeCredential]: credential,
      "kustomization.yaml": withListed(files["kustomization.yaml"] ?? "", "components", component),
    },
    writeKey: publicKey,
  };
}

/** What the team has to write into its overlay: Flux changes the lines with these comments alone. */
export function markersFor({ app, path, autoUpdate = [] }: AppRequest): string {
  const lines = autoUpdate.flatMap((image) => [
    `     - name: ${image}`,
    `       newTag: 1.0.0 # {"$imagepolicy": "${app}:${imageName(image)}:tag"}`,
  ]);
  return [
    `In ${path}/kustomization.yaml of the team's repository, with the tag that runs now and the name as the base writes it`,
    "(another registry than the base's: newName beside newTag):",
    "   images:",
    ...lines,
  ].join("\n");
}
