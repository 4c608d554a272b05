import { fromBase64, inBase64 } from "./base64.ts";
import { volumeProvisioners } from "./eks-baseline.ts";
import { noPath } from "./iam/policy.ts";
import type { Tags } from "./labels.ts";
import { prefixOf } from "./registries.ts";

/** Where spokes may be, by the ID of the account. */
export type SpokePlaces = Readonly<
  Record<
    string,
    {
      readonly regions: readonly string[];
      /** Sealing scopes that a spoke there may have; of the hub's account there is no list: all. */
      readonly scopes?: readonly string[];
      /** ARNs of keys that volumes of spokes there may have; without any, only AWS's own. */
      readonly volumeKeys?: readonly string[];
    }
  >
>;

/** What a value of the bridge looks like, as text. */
export interface Form {
  /** For people. */
  readonly is: string;
  /** Regular expression that every text matches. */
  readonly pattern: string;
  /** A text that is allowed. */
  readonly example: string;
  /** YAML would read a bare value as a number: it must be written between two `${quote}`. */
  readonly numeric?: true;
  /** Has quotation marks of its own, so it can't be put between two `${quote}`. */
  readonly json?: true;
}

/** Line ends of YAML (1.1, b-char) among them, which no pattern refuses, and what could end or escape a text between two `${quote}`. */
const controls = /[\p{Cc}\u2028\u2029]/u;
const escapes = /["\\]/;

/** Whether a text is of the form, and stays one value where Flux substitutes it. */
export const fits = ({ pattern, json }: Form, value: string): boolean =>
  !controls.test(value) && (json === true || !escapes.test(value)) && new RegExp(pattern).test(value);

/** How a value is written as such a text, and read again. */
export interface Codec<Value = unknown> extends Form {
  encode(value: Value): string;
  decode(text: string): Value;
}

const text = (is: string, pattern: string, example: string): Codec<string> => ({
  is,
  pattern,
  example,
  encode: (value) => value,
  decode: (value) => value,
});

/** One of `values`; any other text is read as `otherwise`. */
const oneOf = <const Value extends string>(values: readonly Value[], otherwise: NoInfer<Value>): Codec<Value> => ({
  is: values.map((value) => `\`${value}\``).join(" or "),
  pattern: `^(${values.join("|")})$`,
  example: otherwise,
  encode: (value) => value,
  decode: (value) => values.find((known) => known === value) ?? otherwise,
});

const commaList = (is: string, pattern: string, example: string): Codec<readonly string[]> => ({
  is,
  pattern,
  example,
  encode: (values) => values.join(","),
  decode: (value) => value.split(",").filter(Boolean),
});

const json = { is: "JSON list", pattern: "^\\[.*\\]$", json: true } as const;

/** The component beside HelmRepositories that names their Secret. */
const credentialComponent = "credential";

export const arn = (service: string, resource: string): Codec<string> =>
  text(
    "ARN",
    `^arn:aws[-a-z]*:${service}:[-a-z0-9]*:\\d{12}:.+$`,
    `arn:aws:${service}:${service === "iam" ? "" : "eu-west-1"}:111122223333:${resource}`,
  );

/** The same where there may be none. */
export function arnOrNothing(service: string, resource: string): Codec<string> {
  const { is: words, pattern, example } = arn(service, resource);
  return text(`${words}, or empty`, pattern.replace(/^\^(.*)\$$/, "^($1)?$"), example);
}

const name = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const zone = "[a-z]{2}(-[a-z]+)+-\\d[a-z]";
const cidr = "\\d{1,3}(\\.\\d{1,3}){3}/\\d{1,2}";

/** The codecs of the bridge's values. */
export const is = {
  name: text("name", `^${name}$`, "payments"),
  accounts: text("names with commas between them", `^${name}([,.]${name})*$`, "provider-aws-iam,provider-aws-sqs"),
  role: oneOf(["hub", "spoke"], "spoke"),
  nodeRole: text(
    "name, with a full stop in a cluster of Cluster API",
    `^${name}(\\.${name})?$`,
    "fleet-spoke-payments-node",
  ),
  account: { ...text("12 digits", "^\\d{12}$", "111122223333"), numeric: true },
  region: text("AWS region", "^[a-z]{2}(-[a-z]+)+-\\d$", "eu-west-1"),
  partition: text("AWS partition", "^aws(-[a-z]+)*$", "aws"),
  /** Always with its slashes: it stands between `role` and the name of a role in an ARN. */
  path: text("path that begins and ends with a slash", "^/([^/\\s]+/)*$", noPath),
  vpc: text("ID of a VPC", "^vpc-[-0-9a-z]+$", "vpc-0a1b2c3d4e5f60718"),
  groupOrNothing: text("ID of a security group, or empty", "^(sg-[-0-9a-z]+)?$", ""),
  databases: text("beginning of names in RDS, or empty", "^(d[0-9a-f]{18})?$", ""),
  cidr: text("IPv4 block", `^${cidr}$`, "10.64.0.0/18"),
  cidrs: commaList("IPv4 blocks with commas between them, or empty", `^(${cidr}(,${cidr})*)?$`, ""),
  zones: commaList(
    "names of zones with commas between them",
    `^${zone}(,${zone})*$`,
    "eu-west-1a,eu-west-1b,eu-west-1c",
  ),
  version: { ...text("minor version", "^1\\.\\d{2}$", "1.35"), numeric: true },
  time: text("time as in RFC 3339, or empty", "^(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z)?$", ""),
  identitySource: oneOf(["IRSA", "PodIdentity"], "IRSA"),
  volumeProvisioner: oneOf(Object.values(volumeProvisioners), volumeProvisioners.addon),
  quote: { ...text('always `"`', '^"$', '"'), json: true },
  issuer: text("host and path", "^[^/:]+/.+$", "oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE"),
  url: text("URL", "^[a-z+]+://.+$", "ssh://git@git.example.com/gitops-system.git"),
  provider: oneOf(["generic", "github"], "generic"),
  repositoryType: oneOf(["default", "oci"], "default"),
  chartsProvider: oneOf(["generic", "aws"], "generic"),
  mirror: text("URL, or empty", "^([a-z+]+://.+)?$", ""),
  repository: text("OCI repository without a tag", "^[^/@\\s]+(/[^/:@\\s]+)+$", "ghcr.io/example/function-spoke"),
  digest: text("`@` and the digest of an image, or empty", "^(@sha256:[0-9a-f]{64})?$", ""),
  revision: text("branch", "^\\S+$", "main"),
  prefix: text("name that ends with a hyphen", `^${name}-$`, "fleet-spoke-"),
  /** A registry and path, in Git with the slash that stands before an upstream name. */
  registry: {
    ...text("host and path that end with a slash, or empty", "^([^/@\\s]+/([^/:@\\s]+/)*)?$", ""),
    encode: prefixOf,
    decode: (value) => value.replace(/\/$/, ""),
  },
  list: {
    ...json,
    example: "[]",
    encode: (values: readonly string[]) => JSON.stringify(values),
    decode: (value): readonly string[] => JSON.parse(value) as string[],
  },
  places: {
    ...json,
    is: "JSON object",
    pattern: "^\\{.*\\}$",
    example: '{"111122223333":{"regions":["eu-west-1"]},"444455556666":{"regions":["eu-west-1"],"scopes":["prod"]}}',
    encode: (places: SpokePlaces) => JSON.stringify(places),
    decode: (value) => JSON.parse(value) as SpokePlaces,
  },
  /** Contents of files by their names; in base64, as the data of a Secret. */
  files: {
    ...json,
    is: "JSON object of names and texts in base64",
    pattern: "^\\{.*\\}$",
    example: "{}",
    encode: (files: Readonly<Record<string, string>>) => JSON.stringify(inBase64(files)),
    decode: (value): Readonly<Record<string, string>> => fromBase64(JSON.parse(value) as Record<string, string>),
  },
  tags: {
    ...json,
    is: "JSON object",
    pattern: "^\\{.*\\}$",
    example: '{"cost-center":"4711"}',
    encode: (tags: Tags) => JSON.stringify(tags),
    decode: (value): Tags => JSON.parse(value) as Tags,
  },
  map: { is: "JSON object", pattern: "^\\{.*\\}$", example: "{}", json: true },
  credential: {
    ...json,
    example: "[]",
    encode: (isNeeded: boolean) => JSON.stringify(isNeeded ? [credentialComponent] : []),
    decode: (value) => (JSON.parse(value) as string[]).includes(credentialComponent),
  },
} as const satisfies Record<string, Codec | Form>;
