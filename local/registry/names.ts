/** The name by which clusters know the instance's registry; their DNS answers it with the gateway's address. */
export const REGISTRY_HOST = "registry.fleet.internal";
export const REGISTRY_PORT = 5000;

/** Host and port, as they stand in the names of images. */
export const REGISTRY = `${REGISTRY_HOST}:${REGISTRY_PORT}`;

/** Where the registry has an upstream repository, or all under a prefix: under the upstream's whole name. */
export const mirrorOf = (repository: string): string => `${REGISTRY}/${repository}`;
