/** Kinds: from Pulumi type tokens to API paths. */
import { type JsonMap, textOf } from "../framework/index.ts";
import { ApiError, type Client, isNotFound } from "./client.ts";

/** API version and kind of an object. */
export interface GroupKind {
  /** E.g. `apps/v1`, `v1` for the core group. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** A kind as the API server serves it. */
export interface ServedKind extends GroupKind {
  /** Name in paths, e.g. `deployments`. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The kind that a token stands for: `kubernetes:apps/v1:Deployment`, `kubernetes:core/v1:Secret`, `kubernetes:<apiVersion>:<Kind>`. */
export function kindOfToken(token: string): GroupKind | undefined {
  const [pkg, version, kind] = token.split(":");
  if (pkg !== "kubernetes" || !version || !kind || !/^([\w.-]+\/)?v\w+$/.test(version)) return undefined;
  return { apiVersion: version.replace(/^core\//, ""), kind };
}

/** Path of the API version. */
function versionPath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** Path of an object, or of its collection without a name. */
export function objectPath(served: ServedKind, namespace: string | undefined, name?: string): string {
  const scope = served.namespaced ? `/namespaces/${encodeURIComponent(namespace ?? "default")}` : "";
  const object = name === undefined ? "" : `/${encodeURIComponent(name)}`;
  return `${versionPath(served.apiVersion)}${scope}/${served.plural}${object}`;
}

/** What the API server serves, asked once per API version and again for a kind that was not there (a CRD comes later). */
export class Discovery {
  readonly #client: Client;
  readonly #versions = new Map<string, readonly ServedKind[]>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** The served kind. @throws {ApiError} 404 `NoKindMatch` when the server doesn't have it (yet). */
  async find({ apiVersion, kind }: GroupKind): Promise<ServedKind> {
    const known = this.#versions.get(apiVersion)?.find((item) => item.kind === kind);
    if (known) return known;
    const kinds = await this.#ask(apiVersion);
    this.#versions.set(apiVersion, kinds);
    const found = kinds.find((item) => item.kind === kind);
    if (found) return found;
    const message = `the API server does not serve ${kind} of ${apiVersion}. For a custom resource, install its CRD first (dependsOn)`;
    throw new ApiError(404, "NoKindMatch", message);
  }

  async #ask(apiVersion: string): Promise<readonly ServedKind[]> {
    try {
      const list = await this.#client.request({ method: "GET", path: versionPath(apiVersion) });
      const resources = list["resources"] as JsonMap[];
      return resources
        .filter((resource) => !textOf(resource["name"]).includes("/"))
        .map((resource) => ({
          apiVersion,
          kind: textOf(resource["kind"]),
          plural: textOf(resource["name"]),
          namespaced: resource["namespaced"] === true,
        }));
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}
