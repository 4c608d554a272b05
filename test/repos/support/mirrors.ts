import type { ClusterMetadata } from "../../../lib/bridge.ts";
import { hub } from "../../functions/spoke/support/fixtures.ts";

/** A registry of a company's own, under which everything has its upstream name. */
export const mirror = "registry.example/mirror";

/** A hub that takes everything from there, with credentials. */
export const mirrored: ClusterMetadata = {
  ...hub,
  chartsRegistry: "oci://registry.example/charts",
  imagesRegistry: mirror,
  packagesRegistry: mirror,
  functionPackage: `${mirror}/ghcr.io/example/function-spoke`,
  pullSecrets: ["pull-secret"],
  chartsCredential: true,
};
