import { parse } from "yaml";
import { type Client, need, Unanswered, Wrong } from "./http.ts";
import type { ChartReference } from "./references.ts";
import { manifest } from "./registry.ts";

/** The members of a Helm repository's index that are read (helm.sh, "The Chart Repository Guide"). */
interface Index {
  readonly entries?: Readonly<
    Record<string, readonly { readonly version: string; readonly urls?: readonly string[] }[]>
  >;
}

/** A repository's index, read once for all its charts. */
export type Indexes = Map<string, Promise<Index>>;

async function readIndex(client: Client, repository: string): Promise<Index> {
  const url = `${repository.replace(/\/$/, "")}/index.yaml`;
  const text = await (await need(client, url)).text();
  try {
    return parse(text) as Index;
  } catch (error) {
    throw new Unanswered(`${url} is not YAML: ${(error as Error).message.split("\n")[0]}`, { cause: error });
  }
}

/** @throws Wrong when the repository has no such chart, version or archive; Unanswered */
export async function checkChart(client: Client, indexes: Indexes, chart: ChartReference): Promise<void> {
  const { name, version, repository } = chart;
  if (repository.startsWith("oci://")) {
    // In a tag + is not allowed: Helm writes _ (helm.sh, "Use OCI-based registries").
    await manifest(client, `${repository.slice("oci://".length)}/${name}:${version.replaceAll("+", "_")}`);
    return;
  }
  const index = indexes.get(repository) ?? readIndex(client, repository);
  indexes.set(repository, index);
  const entries = (await index).entries?.[name];
  if (entries === undefined) throw new Wrong(`${repository} has no chart ${name}`);
  const entry = entries.find((each) => each.version === version);
  if (entry === undefined) {
    const newest = entries.slice(0, 3).map((each) => each.version);
    throw new Wrong(`${repository} has no version ${version} of ${name}; it lists ${newest.join(", ")} …`);
  }
  const [archive] = entry.urls ?? [];
  if (archive === undefined) throw new Wrong(`${repository} names no archive of ${name} ${version}`);
  // Its first byte: object stores refuse a HEAD of an address that is signed for GET.
  const found = await need(client, new URL(archive, `${repository.replace(/\/$/, "")}/`).href, {
    headers: { range: "bytes=0-0" },
  });
  await found.body?.cancel();
}
