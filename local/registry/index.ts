/** The container registry of an instance: it mirrors the upstream repositories of what the project builds itself. */
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ensureAuthority } from "../clusters/pki.ts";
import type { Instance } from "../instance/index.ts";
import { run, writeAtomic } from "../instance/index.ts";
import type { ProcessSpec } from "../supervisor/client.ts";
import { REGISTRY_HOST, REGISTRY_PORT } from "./names.ts";

export * from "./names.ts";

/** An image to serve. */
export interface Published {
  /** Upstream's repository, with its host. */
  readonly repository: string;
  readonly tag: string;
  /** Folder of an OCI image layout. */
  readonly layout: string;
}

type Paths = Pick<Instance, "dir" | "gatewayAddress" | "paths">;

const folderOf = ({ dir }: Pick<Instance, "dir">): string => join(dir, "registry");

/** docker-registry's configuration (YAML reads JSON; https://distribution.github.io/distribution/about/configuration/). */
export function registryConfig(instance: Paths, tls: { readonly certificate: string; readonly key: string }): string {
  return JSON.stringify({
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(folderOf(instance), "storage") },
      cache: { blobdescriptor: "inmemory" },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: {
      addr: `${instance.gatewayAddress}:${REGISTRY_PORT}`,
      tls: { certificate: tls.certificate, key: tls.key, minimumtls: "tls1.2" },
    },
  });
}

/** The registry as a process for the supervisor; writes its configuration and certificate. The instance's CA must exist. */
export async function registryProcess(instance: Instance, binary: string): Promise<ProcessSpec> {
  const authority = await ensureAuthority(
    dirname(instance.paths.caCertificate),
    "ca",
    `eks-gitops-fleet instance ${instance.index}`,
  );
  const tls = await authority.issue(REGISTRY_HOST, {
    commonName: REGISTRY_HOST,
    addresses: [REGISTRY_HOST, instance.gatewayAddress],
  });
  await mkdir(folderOf(instance), { recursive: true, mode: 0o700 });
  const config = join(folderOf(instance), "config.yml");
  await writeAtomic(config, registryConfig(instance, tls));
  return {
    id: "registry",
    argv: [binary, "serve", config],
    env: { OTEL_TRACES_EXPORTER: "none" },
    ready: { tcp: { host: instance.gatewayAddress, port: REGISTRY_PORT } },
  };
}

/** Pushes images that the registry doesn't have yet. */
export async function publishImages(instance: Paths, crane: string, images: readonly Published[]): Promise<void> {
  const env = { ...process.env, SSL_CERT_FILE: instance.paths.caCertificate };
  for (const { repository, tag, layout } of images) {
    const reference = `${instance.gatewayAddress}:${REGISTRY_PORT}/${repository}:${tag}`;
    await run([crane, "push", layout, reference], { env });
  }
}

/** The registry's charts, as this machine and clusters reach them: by an address, which both know. */
export const chartsRegistry = ({ gatewayAddress }: Pick<Instance, "gatewayAddress">): string =>
  `oci://${gatewayAddress}:${REGISTRY_PORT}/charts`;

/** Pushes the archives of a chart repository. */
export async function publishCharts(instance: Paths, helm: string, folder: string): Promise<string[]> {
  const env = { ...process.env, SSL_CERT_FILE: instance.paths.caCertificate };
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  for (const name of archives) await run([helm, "push", join(folder, name), chartsRegistry(instance)], { env });
  return archives;
}
