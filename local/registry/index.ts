/** The container registry of an instance: it mirrors the upstream repositories of what the project builds itself. */
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ensureAuthority } from "../clusters/pki.ts";
import type { Instance } from "../instance/index.ts";
import { run, writeAtomic } from "../instance/index.ts";
import type { ProcessSpec } from "../supervisor/client.ts";
import {
  clientConfig,
  clientFolder,
  type RegistryCredential,
  registryCredential,
  registryFolder,
  usersFile,
} from "./credential.ts";
import { REGISTRY_HOST, REGISTRY_PORT } from "./names.ts";

export { dockerConfig, type RegistryCredential } from "./credential.ts";
export * from "./names.ts";

/** An image to serve. */
export interface Published {
  /** Upstream's repository, with its host. */
  readonly repository: string;
  readonly tag: string;
  /** Folder of an OCI image layout, or an archive as `docker save` makes it. */
  readonly layout: string;
  /** Label of the image, which makes it another one than what else is of this layout. */
  readonly version?: string;
}

type Paths = Pick<Instance, "dir" | "gatewayAddress" | "paths">;

/** Host and port by which this machine reaches it. */
const hostOf = ({ gatewayAddress }: Pick<Instance, "gatewayAddress">): string => `${gatewayAddress}:${REGISTRY_PORT}`;

/**
 * docker-registry's configuration (YAML reads JSON; https://distribution.github.io/distribution/about/configuration/).
 * @param isPrivate whether it asks everybody for the instance's credential
 */
export function registryConfig(
  instance: Paths,
  tls: { readonly certificate: string; readonly key: string },
  isPrivate = false,
): string {
  return JSON.stringify({
    ...(isPrivate && { auth: { htpasswd: { realm: REGISTRY_HOST, path: usersFile(instance) } } }),
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(registryFolder(instance), "storage") },
      cache: { blobdescriptor: "inmemory" },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: {
      addr: hostOf(instance),
      tls: { certificate: tls.certificate, key: tls.key, minimumtls: "tls1.2" },
    },
  });
}

/** The registry as a process for the supervisor; writes its configuration and certificate. The instance's CA must exist. */
export async function registryProcess(instance: Instance, binary: string, isPrivate = false): Promise<ProcessSpec> {
  const authority = await ensureAuthority(
    dirname(instance.paths.caCertificate),
    "ca",
    `eks-gitops-fleet instance ${instance.index}`,
  );
  const tls = await authority.issue(REGISTRY_HOST, {
    commonName: REGISTRY_HOST,
    addresses: [REGISTRY_HOST, instance.gatewayAddress],
  });
  await mkdir(registryFolder(instance), { recursive: true, mode: 0o700 });
  if (isPrivate) await credentialOf(instance);
  const config = join(registryFolder(instance), "config.yml");
  await writeAtomic(config, registryConfig(instance, tls, isPrivate));
  return {
    id: "registry",
    argv: [binary, "serve", config],
    env: { OTEL_TRACES_EXPORTER: "none" },
    ready: { tcp: { host: instance.gatewayAddress, port: REGISTRY_PORT } },
  };
}

/** Pushes images that the registry doesn't have yet. */
export async function publishImages(instance: Paths, crane: string, images: readonly Published[]): Promise<void> {
  const env = { ...process.env, ...clientEnvironment(instance) };
  for (const { repository, tag, layout, version } of images) {
    const reference = `${hostOf(instance)}/${repository}:${tag}`;
    await run([crane, "push", layout, reference], { env });
    if (version === undefined) continue;
    const label = `org.opencontainers.image.version=${version}`;
    await run([crane, "mutate", reference, "--label", label, "--tag", reference], { env });
  }
}

/** The registry's charts, as this machine and clusters reach them: by an address, which both know. */
export const chartsRegistry = (instance: Pick<Instance, "gatewayAddress">): string =>
  `oci://${hostOf(instance)}/charts`;

/** The credential that a private registry of the instance asks for; this machine's clients are logged in with it from then on. */
export const credentialOf = (instance: Paths): Promise<RegistryCredential> =>
  registryCredential(instance, hostOf(instance));

/** Environment in which clients trust the registry, and are not logged in to it. */
export const trustEnvironment = ({ paths }: Pick<Paths, "paths">) => ({ SSL_CERT_FILE: paths.caCertificate });

/** Environment in which crane and helm trust the registry and are logged in to it, if it asks for that. */
export const clientEnvironment = (instance: Paths): Record<string, string> => ({
  ...trustEnvironment(instance),
  DOCKER_CONFIG: clientFolder(instance),
  HELM_REGISTRY_CONFIG: clientConfig(instance),
});

/** Pushes the archives of a chart repository. */
export async function publishCharts(instance: Paths, helm: string, folder: string): Promise<string[]> {
  const env = { ...process.env, ...clientEnvironment(instance) };
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  for (const name of archives) await run([helm, "push", join(folder, name), chartsRegistry(instance)], { env });
  return archives;
}
