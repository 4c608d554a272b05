import { ask, type Client, Unanswered, Wrong } from "./http.ts";

/** The part of the OCI distribution API that tells what an image's name leads to (opencontainers/distribution-spec). */

/** Nodes of a fleet may be of both: the sample hubs are Graviton machines, and a Spoke chooses for itself. */
const architectures = ["amd64", "arm64"] as const;

const indexTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];
const manifestTypes = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];

interface Manifest {
  readonly config?: { readonly digest: string };
  readonly manifests?: readonly { readonly platform?: { readonly os: string; readonly architecture: string } }[];
}

interface Name {
  readonly host: string;
  readonly path: string;
  /** Tag or digest. */
  readonly version: string;
}

/** Docker Hub is the host of names without one, and serves them under another. */
function parseName(reference: string): Name {
  const [, name = "", digest] = /^([^@]+)(?:@(.+))?$/.exec(reference) ?? [];
  const [, withoutTag = name, tag] = /^(.+):([^/:]+)$/.exec(name) ?? [];
  const first = withoutTag.split("/")[0] as string;
  const hasHost = withoutTag.includes("/") && (/[.:]/.test(first) || first === "localhost");
  const host = hasHost ? first : "docker.io";
  const path = hasHost ? withoutTag.slice(first.length + 1) : withoutTag;
  const version = digest ?? tag ?? "latest";
  if (host !== "docker.io") return { host, path, version };
  return { host: "registry-1.docker.io", path: path.includes("/") ? path : `library/${path}`, version };
}

/** Where a registry gives a token to an anonymous reader; undefined if it asks for another kind of login. */
function tokenAddress(challenge: string): string | undefined {
  const parameters = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  if (!/^bearer /i.test(challenge) || parameters["realm"] === undefined) return undefined;
  const url = new URL(parameters["realm"]);
  for (const key of ["service", "scope"])
    if (parameters[key] !== undefined) url.searchParams.set(key, parameters[key] as string);
  return url.href;
}

async function read(client: Client, { host, path, version }: Name, what: "manifests" | "blobs"): Promise<Response> {
  const url = `https://${host}/v2/${path}/${what}/${version}`;
  const headers = what === "manifests" ? { accept: [...indexTypes, ...manifestTypes].join(", ") } : {};
  const first = await ask(client, url, { headers });
  if (first.status !== 401) return first;
  const own = await client.login?.(host);
  if (own !== undefined) return ask(client, url, { headers: { ...headers, authorization: own } });
  const address = tokenAddress(first.headers.get("www-authenticate") ?? "");
  if (address === undefined) return first;
  const answer = await ask(client, address);
  // ghcr.io denies the token itself: 403 DENIED for a package that was never published, 401 or 403 for a private one (TeamCoderz/WordyMe#75).
  if ([401, 403].includes(answer.status)) return answer;
  if (!answer.ok) return first;
  const { token, access_token: accessToken } = (await answer.json()) as Record<string, string | undefined>;
  const given = token ?? accessToken;
  return given === undefined ? first : ask(client, url, { headers: { ...headers, authorization: `Bearer ${given}` } });
}

async function must(client: Client, name: Name, what: "manifests" | "blobs"): Promise<Manifest> {
  const response = await read(client, name, what);
  const url = `https://${name.host}/v2/${name.path}/${what}/${name.version}`;
  if (response.ok) return (await response.json()) as Manifest;
  if ([401, 403].includes(response.status))
    throw new Wrong(`${url}: status ${response.status}: it was never published, or is not public`);
  if (response.status === 404) throw new Wrong(`${url}: status 404`);
  throw new Unanswered(`${url}: status ${response.status}`);
}

/** What a tag or digest leads to. @throws Wrong when it is not there for everybody; Unanswered */
export const manifest = (client: Client, reference: string): Promise<Manifest> =>
  must(client, parseName(reference), "manifests");

/** @throws Wrong when the image is not there, or not for every architecture; Unanswered */
export async function checkImage(client: Client, reference: string): Promise<void> {
  const found = await manifest(client, reference);
  const has =
    found.manifests?.flatMap(({ platform }) => (platform?.os === "linux" ? [platform.architecture] : [])) ??
    (await ofConfig(client, reference, found));
  const missing = architectures.filter((architecture) => !has.includes(architecture));
  if (missing.length > 0)
    throw new Wrong(`${reference} is not there for linux/${missing.join(" and linux/")}; it is for ${has.join(", ")}`);
}

/** An image of one architecture says in its configuration which. */
async function ofConfig(client: Client, reference: string, { config }: Manifest): Promise<string[]> {
  if (config === undefined) throw new Wrong(`${reference} is not an image: its manifest names no configuration`);
  const blob = await must(client, { ...parseName(reference), version: config.digest }, "blobs");
  const { architecture } = blob as { readonly architecture?: string };
  return architecture === undefined ? [] : [architecture];
}
