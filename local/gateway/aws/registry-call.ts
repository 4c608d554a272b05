import { pathOf } from "./credential-scope.ts";
import type { HttpRequest } from "./http.ts";

/** Hosts of Amazon ECR's private registries (ECR User Guide, "Private registry"). */
const registryHost = /^\d{12}\.dkr[.-]ecr(-fips)?\.[a-z0-9-]+\./;

/** Whether a request is a call of the registry API (opencontainers/distribution-spec), which Amazon ECR serves under its own hosts. */
export const isRegistryCall = ({ headers, url }: Pick<HttpRequest, "headers" | "url">): boolean =>
  registryHost.test(headers["host"] ?? "") && /^\/v2(\/|$)/.test(pathOf(url));
