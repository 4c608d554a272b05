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

type Paths = Pick<Instance, "dir" | "gatewayAddress" | "loopbackAddress" | "paths">;

/** Host and port from which clusters and this machine pull: every local user and pod reaches it, so it takes no pushes. */
const hostOf = ({ gatewayAddress }: Pick<Instance, "gatewayAddress">): string => `${gatewayAddress}:${REGISTRY_PORT}`;

/** Host and port to which this machine pushes, with the instance's credential. */
const pushHostOf = ({ loopbackAddress }: Pick<Instance, "loopbackAddress">): string =>
  `${loopbackAddress}:${REGISTRY_PORT}`;

/** One of the two servers of the registry's storage. */
interface Server {
  readonly address: string;
  /** Whether it takes no pushes. */
  readonly readOnly: boolean;
  /** Whether it asks everybody for the instance's credential. */
  readonly isPrivate: boolean;
}

/** What serves the registry. @param isPrivate whether pulls need the credential too */
const servers = (instance: Paths, isPrivate: boolean): Readonly<Record<string, Server>> => ({
  registry: { address: hostOf(instance), readOnly: true, isPrivate },
  "registry-pushes": { address: pushHostOf(instance), readOnly: false, isPrivate: true },
});

/** docker-registry's configuration (YAML reads JSON; https://distribution.github.io/distribution/about/configuration/). */
export function registryConfig(
  instance: Paths,
  tls: { readonly certificate: string; readonly key: string },
  server: Server,
): string {
  return JSON.stringify({
    ...(server.isPrivate && { auth: { htpasswd: { realm: REGISTRY_HOST, path: usersFile(instance) } } }),
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(registryFolder(instance), "storage") },
      cache: { blobdescriptor: "inmemory" },
      maintenance: { uploadpurging: { enabled: false }, readonly: { enabled: server.readOnly } },
    },
    http: {
      addr: server.address,
      tls: { certificate: tls.certificate, key: tls.key, minimumtls: "tls1.2" },
    },
  });
}

/** The registry as processes for the supervisor; writes their configuration and certificate. The instance's CA must exist. */
export async function registryProcesses(instance: Instance, binary: string, isPrivate = false): Promise<ProcessSpec[]> {
  const authority = await ensureAuthority(
    dirname(instance.paths.caCertificate),
    "ca",
    `eks-gitops-fleet instance ${instance.index}`,
  );
  const tls = await authority.issue(REGISTRY_HOST, {
    commonName: REGISTRY_HOST,
    addresses: [REGISTRY_HOST, instance.gatewayAddress, instance.loopbackAddress],
  });
  await mkdir(registryFolder(instance), { recursive: true, mode: 0o700 });
  await registryCredential(instance, [pushHostOf(instance), ...(isPrivate ? [hostOf(instance)] : [])]);
  return Promise.all(
    Object.entries(servers(instance, isPrivate)).map(async ([id, server]) => {
      const config = join(registryFolder(instance), `${id}.yml`);
      await writeAtomic(config, registryConfig(instance, tls, server));
      const [host = "", port] = server.address.split(":");
      return {
        id,
        argv: [binary, "serve", config],
        env: { OTEL_TRACES_EXPORTER: "none" },
        ready: { tcp: { host, port: Number(port) } },
      };
    }),
  );
}

/** Pushes images that the registry doesn't have yet. */
export async function publishImages(instance: Paths, crane: string, images: readonly Published[]): Promise<void> {
  const env = { ...process.env, ...clientEnvironment(instance) };
  for (const { repository, tag, layout, version } of images) {
    const reference = `${pushHostOf(instance)}/${repository}:${tag}`;
    await run([crane, "push", layout, reference], { env });
    if (version === undefined) continue;
    const label = `org.opencontainers.image.version=${version}`;
    await run([crane, "mutate", reference, "--label", label, "--tag", reference], { env });
  }
}

const chartsOn = (host: string): string => `oci://${host}/charts`;

/** The registry's charts, as this machine and clusters reach them: by an address, which both know. */
export const chartsRegistry = (instance: Pick<Instance, "gatewayAddress">): string => chartsOn(hostOf(instance));

/** The credential that a private registry of the instance asks for. */
export const credentialOf = (instance: Paths): Promise<RegistryCredential> =>
  registryCredential(instance, [pushHostOf(instance), hostOf(instance)]);

/** Environment in which crane and helm trust the registry and are logged in to it. */
export const clientEnvironment = (instance: Paths): Record<string, string> => ({
  SSL_CERT_FILE: instance.paths.caCertificate,
  DOCKER_CONFIG: clientFolder(instance),
  HELM_REGISTRY_CONFIG: clientConfig(instance),
});

/** Pushes the archives of a chart repository. */
export async function publishCharts(instance: Paths, helm: string, folder: string): Promise<string[]> {
  const env = { ...process.env, ...clientEnvironment(instance) };
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  for (const name of archives) await run([helm, "push", join(folder, name), chartsOn(pushHostOf(instance))], { env });
  return archives;
}
