import { createPublicKey } from "node:crypto";
import type { PackageVerification } from "../components/package-verification.ts";
import { fromJson, isRecord, type Key, listOf, reads, secret, slug, text } from "./forms.ts";

/** Name of a repository in the OCI distribution spec ("Pulling manifests"), after a host with a dot or a port, and the digest of its package. */
const repository = text(
  /^[a-z0-9-]+(\.[a-z0-9-]+)*(\.[a-z0-9-]+|:\d+)(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+(@sha256:[0-9a-f]{64})?$/,
  "host/path in lower case, without a scheme or a tag, followed by @sha256:<64 hexadecimal digits>, the digest that hubs pull",
  "ghcr.io/<owner>/function-spoke@sha256:<digest>",
);

/** An entry of `auths`, as kubelet and Crossplane's keychain read it: user and password, or both together in base64. */
function registryCredential(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  const { auth, username, password } = entry;
  if (typeof auth === "string") return Buffer.from(auth, "base64").toString("utf8").includes(":");
  return typeof username === "string" && typeof password === "string" && username !== "" && password !== "";
}

const pullSecret: Key<string> = {
  parse: (value) => {
    if (value === "") return value;
    const config = fromJson(value);
    const entries = isRecord(config) && isRecord(config["auths"]) ? Object.values(config["auths"]) : [];
    return entries.length > 0 && entries.every(registryCredential) ? value : undefined;
  },
  allowed:
    'a Docker configuration {"auths": {"<host>": {"username": "…", "password": "…"}}} with the credential itself: credential helpers (credsStore) do not run in the cluster',
  example: "< config.json",
  secret: true,
};

/** A host with a dot or a port, and an optional path: the same without a repository at the end. */
const registry = text(
  /^([a-z0-9-]+(\.[a-z0-9-]+)*(\.[a-z0-9-]+|:\d+)(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*)?$/,
  "host or host/path in lower case, without a scheme and a slash at the end, or empty",
  "registry.example.com/mirror",
);

/** One public key in PEM, as `cosign public-key` writes it. */
const isPublicKey = (text: string): boolean =>
  /^-----BEGIN PUBLIC KEY-----\n[^-]+-----END PUBLIC KEY-----\s*$/.test(text) && reads(() => createPublicKey(text));

/** What of a regular expression stands outside of its groups. */
function outsideOfGroups(expression: string): string {
  const shorter = expression.replaceAll(/\([^()]*\)/g, "");
  return shorter === expression ? expression : outsideOfGroups(shorter);
}

/**
 * Whether a text is a regular expression for a whole subject; what RE2 and JavaScript both take, as far as that can be told here. Of alternatives outside of
 * a group each would have but one of the two ends.
 */
const isWholePattern = (text: string): boolean => {
  const ends = outsideOfGroups(text.replaceAll(/\\.|\[[^\]]*\]/g, ""));
  return text.startsWith("^") && ends.endsWith("$") && !ends.includes("|") && reads(() => new RegExp(text));
};

function packageVerification(value: unknown): PackageVerification | undefined {
  if (!isRecord(value)) return undefined;
  const { name, prefix, key, issuer, subject, ...unknown } = value;
  if (typeof name !== "string" || !slug.test(name) || name.length > 40 || Object.keys(unknown).length > 0)
    return undefined;
  if (typeof prefix !== "string" || !/^[a-z0-9.-]+(:\d+)?\/[a-z0-9][a-z0-9._/-]*$/.test(prefix)) return undefined;
  if (issuer === undefined && subject === undefined)
    return typeof key === "string" && isPublicKey(key) ? { name, prefix, key } : undefined;
  if (typeof issuer !== "string" || !/^https:\/\/[^\s/]+(\/\S*)?$/.test(issuer)) return undefined;
  return key === undefined && typeof subject === "string" && isWholePattern(subject)
    ? { name, prefix, issuer, subject }
    : undefined;
}

/** The keys about the sources of charts, images and packages. */
export const registryKeys = {
  registry,
  chartsRegistry: text(
    /^((https|oci):\/\/[^\s@/]+(\/[^\s/]+)*)?$/,
    "https://host/path or oci://host/path without a user, a password or a slash at the end, or empty",
    "oci://registry.example.com/charts",
  ),
  chartsUsername: text(/^[^\s:]*$/, "a user name without colons, or empty", "fleet"),
  chartsPassword: secret("a password, or empty"),
  imagesRegistry: registry,
  packagesRegistry: registry,
  functionPackage: repository,
  packageVerification: listOf(packageVerification, {
    allowed:
      "a list of {name: <at most 40 lower-case letters, digits and hyphens>, prefix: <host/beginning of the packages' path>, key: <public key in PEM>}, " +
      "or in place of key {issuer: <https://…>, subject: <regular expression that begins with ^ and ends with $, alternatives in parentheses>}",
    path: "[0].prefix",
    example: "ghcr.io/<owner>/function-spoke (likewise name, issuer, subject)",
  }),
  pullSecret,
} as const;
