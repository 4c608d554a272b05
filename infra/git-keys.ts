import { createPrivateKey, X509Certificate } from "node:crypto";
import { type Repository, repositories } from "../lib/names.ts";
import { receiverTypes } from "../lib/receivers.ts";
import { isSigner, type Signers } from "../lib/signers.ts";
import { cidr, fromJson, isRecord, type Key, list, oneOf, reads, secret, text } from "./forms.ts";

const branch = text(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, "the name of a Git branch", "main");

/** A URL, or nothing. */
function url(pattern: RegExp, allowed: string, example: string): Key<string> {
  const accepts = (value: string) => value === "" || (pattern.test(value) && URL.canParse(value));
  return { parse: (value) => (accepts(value) ? value : undefined), allowed, example };
}

// Without a password: these URLs go into the cluster secret and the stack's outputs.
const gitUrl = url(
  /^(ssh:\/\/([^\s:@/]+@)?[^\s@/]+(\/\S*)?|https:\/\/[^\s@/]+(\/\S*)?)$/,
  "ssh://user@host/path.git or https://host/path.git, without a password",
  "ssh://git@github.com/<org>/<repository>.git",
);

/** The blocks of a text in PEM (RFC 7468); text between them is commentary. */
const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

/** Certificates for Flux's `ca.crt`, and no other blocks: a private key must not get in among what everybody may read. */
const caCertificate: Key<string> = {
  parse: (value) => {
    if (value === "") return value;
    const blocks = [...value.matchAll(pemBlock)];
    const begun = value.match(/-----BEGIN /g)?.length ?? 0;
    const good = blocks.every(([block, label]) => label === "CERTIFICATE" && reads(() => new X509Certificate(block)));
    return begun > 0 && begun === blocks.length && good ? value : undefined;
  },
  allowed: "certificates in PEM and no other blocks, with their line breaks, or empty",
  // Without -- the dashes at the beginning of the value would be taken for a flag.
  example: '-- "$(cat ca.crt)"',
};

/** GitHub makes RSA keys, and Flux reads no others (fluxcd/pkg auth/githubapp, ParseRSAPrivateKeyFromPEM). */
const appKey: Key<string> = {
  parse: (value) =>
    value === "" || reads(() => createPrivateKey(value).asymmetricKeyType === "rsa") ? value : undefined,
  allowed: "an RSA private key in PEM, with its line breaks",
  example: "< app.private-key.pem",
  secret: true,
};

const isSigners = (value: unknown): value is Signers =>
  isRecord(value) &&
  Object.keys(value).length > 0 &&
  Object.entries(value).every(([name, key]) => typeof key === "string" && isSigner(name, key));

/** Whose commits are applied, by repository; of a repository that is not named, everybody's. */
const verification: Key<Readonly<Partial<Record<Repository, Signers>>>> = {
  parse: (value) => {
    const given = fromJson(value);
    if (!isRecord(given) || !Object.values(given).every(isSigners)) return undefined;
    return Object.keys(given).every((name) => repositories.some((known) => known === name)) ? given : undefined;
  },
  allowed:
    `{${repositories.map((name) => `${name}: {<name>.asc: <one public key of OpenPGP in ASCII armor>, <name>.sshpub: <public keys as in a .pub of ssh-keygen>}`).join(", ")}}; ` +
    "a repository that is not named is not verified",
  path: '["gitops-system"]["<name>.sshpub"]',
  // Without -- the dashes at the beginning of a key of OpenPGP would be taken for a flag.
  example: '-- "$(cat <name>.pub)"',
};

const optionalId = text(/^\d*$/, "a number", "123456");

/** The keys about Flux's access to Git. */
export const gitKeys = {
  gitopsSystemRepoUrl: gitUrl,
  gitopsSystemRepoRevision: branch,
  gitopsWorkloadsRepoUrl: gitUrl,
  gitopsWorkloadsRepoRevision: branch,
  gitAuthentication: oneOf("deploy-key", "token", "github-app"),
  gitKnownHosts: text(/^[^\0]*$/, "known_hosts lines", '"$(ssh-keyscan <host>)"'),
  gitUsername: text(/^\S+$/, "a user name", "git"),
  gitToken: secret("an access token"),
  githubAppId: optionalId,
  githubAppInstallationId: optionalId,
  githubAppPrivateKey: appKey,
  githubAppBaseUrl: url(
    /^https:\/\/[^\s@/]+(\/[^\s/?#]+)*$/,
    "https://host/path of the API without a slash at the end, or empty",
    "https://github.example.com/api/v3",
  ),
  gitCaCertificate: caCertificate,
  gitVerification: verification,
  gitInterval: text(/^((\d+h)?(\d+m)?(\d+s)?(?<=.))?$/, "a duration such as 30s, 1m or 1h, or empty", "1m"),
  gitReceiver: oneOf("none", ...receiverTypes),
  gitReceiverGeneration: text(
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    "1 to 63 lower-case letters, digits and hyphens",
    "2",
  ),
  gitReceiverCidrs: list(cidr),
} as const;
