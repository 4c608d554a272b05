/** All code of the product that the embedded cloud uses: no other file of local/ imports from outside it. `product-paths.ts` has its paths. */

export { ask, type Question } from "../cli/app/ask.ts";
export { type AppAccess, appCredential } from "../cli/app/credential.ts";
export { onboardApp } from "../cli/app/folder.ts";
export type { Surroundings } from "../cli/doctor/surroundings.ts";
export { credentialReader, type FleetFacts, fromOutputs } from "../cli/fleet/facts.ts";
export { writeFleetFiles } from "../cli/fleet/folders.ts";
export { contentFolder, contentNames } from "../cli/init/repositories.ts";
export { newSpoke } from "../cli/spoke/folder.ts";
export { charts, fluxTags, kubernetesVersions } from "../components/versions.ts";
export { creationFailed } from "../functions/spoke/failures.ts";
export { managedKinds } from "../functions/spoke/kinds.ts";
export { bundle } from "../functions/spoke/package/bundle.ts";
export { distribution, hasApt, unpackPackages } from "../functions/spoke/package/debian.ts";
export { FUNCTION_REPOSITORY, functionPackage } from "../functions/spoke/package/function.ts";
export {
  addEntry,
  type EntryHeader,
  type ImageFile,
  imageArchitecture,
  imageConfig,
  type LayerSpec,
  layerEntries,
  type RunSpec,
  writeLayer,
  writeTar,
} from "../functions/spoke/package/layer.ts";
export type { Platform } from "../functions/spoke/package/layout.ts";
export { type PackageSpec, packageYaml, writePackage } from "../functions/spoke/package/package.ts";
export { NODE, NODE_VERSION, ownNode, writeRuntime } from "../functions/spoke/package/runtime.ts";
export { keys } from "../infra/settings.ts";
export { type Cidr, contains, isServiceBlock, networkOf, overlaps, parseCidr, reservedFor } from "../lib/cidr.ts";
export { notApplied } from "../lib/flux-applied.ts";
export { filled } from "../lib/generated-part.ts";
export { adoptHubPolicy } from "../lib/iam/adopt-hub.ts";
export { awsProofPolicy } from "../lib/iam/aws-proof.ts";
export { crossplanePolicies } from "../lib/iam/crossplane.ts";
export { deployerPolicies } from "../lib/iam/deployer.ts";
export { doctorPolicy } from "../lib/iam/doctor.ts";
export { pullerPolicies } from "../lib/iam/ecr.ts";
export { nodeReleasesPolicy } from "../lib/iam/node-releases.ts";
export { sweepPolicy } from "../lib/iam/sweep.ts";
export { ownKeysOfRole } from "../lib/iam/volume-key.ts";
export { isArm } from "../lib/instance-types.ts";
export { type ClusterAccess, tokenUser } from "../lib/kubeconfig.ts";
export { fleetTag, labelKeys, lookAgainAnnotation, receiverLabel, sharedNetworkTag } from "../lib/labels.ts";
export { hubFolder, spokeFolder, spokeSync, spokesFolder } from "../lib/layout.ts";
export { markdownTable } from "../lib/markdown.ts";
export { fleetNames, namespaces, repositories } from "../lib/names.ts";
export { isStandard, type Quota, type QuotaName, quotas, vcpuQuotas } from "../lib/quotas.ts";
export { receiverTypes } from "../lib/receivers.ts";
export { spokeApi } from "../lib/spoke.ts";
export { compare } from "../lib/version.ts";
