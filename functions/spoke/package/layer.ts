/** Layers and configurations of container images (https://github.com/opencontainers/image-spec). */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Header, type Pack, pack } from "tar-stream";

/** A file copied from this machine, or a small one by its content. Mode: 0755 for copied programs, else 0644. */
export type ImageFile = { readonly source: string; readonly mode?: number } | { readonly content: string };

/** What a layer is made of. */
export interface LayerSpec {
  /** The image's name, for messages. */
  readonly reference: string;
  /** Path in the image to what is there. */
  readonly files: Readonly<Record<string, ImageFile>>;
}

/** How an image starts. */
export interface RunSpec {
  readonly entrypoint: readonly string[];
  /** `uid` or `uid:gid`. */
  readonly user: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What is said of an entry; tar-stream fills in the rest. */
export type EntryHeader = Pick<Header, "name"> & Partial<Header>;

interface LayerEntry {
  readonly header: EntryHeader;
  readonly file?: ImageFile;
}

/** What every image has, as distroless images do. The CA file is where an instance mounts its own CA. */
const BASE_FILES: Readonly<Record<string, ImageFile>> = {
  "/etc/passwd": {
    content: [
      "root:x:0:0:root:/root:/sbin/nologin",
      "nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin",
      "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin",
      "",
    ].join("\n"),
  },
  "/etc/group": { content: "root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n" },
  "/etc/nsswitch.conf": { content: "hosts: files dns\n" },
  "/etc/ssl/certs/ca-certificates.crt": { content: "" },
};

const BASE_FOLDERS: Readonly<Record<string, Partial<Header>>> = {
  "/home/nonroot": { uid: 65532, gid: 65532 },
  "/tmp": { mode: 0o1777 },
};

/**
 * Everything in the layer in the order of the archive: parents before children, the rest by name. A layer with `base` has
 * what every image needs once.
 */
export function layerEntries(spec: LayerSpec, base = true): LayerEntry[] {
  const files = { ...(base && BASE_FILES), ...spec.files };
  const folders = new Set(base ? Object.keys(BASE_FOLDERS) : []);
  for (const path of [...Object.keys(files), ...folders]) {
    if (!path.startsWith("/") || posix.normalize(path) !== path) {
      throw new Error(`${spec.reference}: ${path} is not an absolute path of a file in an image`);
    }
    for (let folder = posix.dirname(path); folder !== "/"; folder = posix.dirname(folder)) folders.add(folder);
  }
  const common = { uid: 0, gid: 0, mtime: new Date(0) };
  const entries: LayerEntry[] = [
    ...[...folders].map(
      (path): LayerEntry => ({
        header: {
          ...common,
          name: `${path.slice(1)}/`,
          type: "directory",
          mode: 0o755,
          ...BASE_FOLDERS[path],
        },
      }),
    ),
    ...Object.entries(files).map(
      ([path, file]): LayerEntry => ({
        header: { ...common, name: path.slice(1), type: "file", mode: fileMode(file) },
        file,
      }),
    ),
  ];
  return entries.sort((a, b) => (a.header.name < b.header.name ? -1 : 1));
}

const fileMode = (file: ImageFile): number => ("source" in file ? (file.mode ?? 0o755) : 0o644);

/** The image's configuration (https://github.com/opencontainers/image-spec/blob/main/config.md). */
export function imageConfig(spec: RunSpec, layerDigests: readonly string[], architecture: string): string {
  return JSON.stringify({
    architecture,
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config: {
      Entrypoint: spec.entrypoint,
      User: spec.user,
      Env: [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ...Object.entries(spec.env ?? {}).map(([name, value]) => `${name}=${value}`),
      ],
      WorkingDir: "/",
    },
    rootfs: { type: "layers", diff_ids: layerDigests.map((digest) => `sha256:${digest}`) },
    history: layerDigests.map(() => ({
      created: "1970-01-01T00:00:00Z",
      created_by: "eks-gitops-fleet",
    })),
  });
}

/** The processor's name in images (GOARCH). @throws for one that no image is made for. */
export function imageArchitecture(nodeArch: string = process.arch): string {
  const names: Record<string, string> = { x64: "amd64", arm64: "arm64" };
  const name = names[nodeArch];
  if (!name) throw new Error(`No images for the processor ${nodeArch}: known are ${Object.keys(names).join(", ")}`);
  return name;
}

/** Writes a layer and returns the SHA-256 of its tar in hex. */
export function writeLayer(path: string, entries: readonly LayerEntry[]): Promise<string> {
  return writeTar(path, async (tar) => {
    for (const { header, file } of entries) await addEntry(tar, header, file);
  });
}

/** Writes a tar file and returns its SHA-256 in hex. */
export async function writeTar(path: string, fill: (tar: Pack) => Promise<void>): Promise<string> {
  const tar = pack();
  const hash = createHash("sha256");
  tar.on("data", (chunk) => hash.update(chunk as Buffer));
  const written = pipeline(tar, createWriteStream(path));
  try {
    await fill(tar);
    tar.finalize();
  } catch (error) {
    tar.destroy(error as Error);
    await written.catch(() => {});
    throw error;
  }
  await written;
  return hash.digest("hex");
}

export async function addEntry(tar: Pack, header: EntryHeader, file: ImageFile | undefined): Promise<void> {
  if (!file) return void tar.entry(header);
  if ("content" in file) return void tar.entry(header, file.content);
  const { size } = await stat(file.source);
  await pipeline(createReadStream(file.source), tar.entry({ ...header, size }));
}
