import type { Instance } from "../instance/index.ts";
import { FUNCTION_REPOSITORY } from "../product.ts";
import { chartsRegistry, credentialOf, dockerConfig, mirrorOf, type Published, REGISTRY } from "../registry/index.ts";
import type { Image } from "../toolchain/index.ts";
import type { Choices } from "./choices.ts";
import type { StackValues } from "./git-method.ts";

/** Returns the keys of a stack with the sources of charts, images and packages. The hub pulls the function by the digest that is built here. */
export async function mirrorConfig(
  instance: Instance,
  charts: Choices["charts"],
  functionDigest: string,
): Promise<StackValues> {
  const functionPackage = `${FUNCTION_REPOSITORY}@${functionDigest}`;
  if (charts === "https")
    return {
      values: { chartsRegistry: `https://${instance.gatewayAddress}/charts`, functionPackage },
      secrets: {},
    };
  const values = { chartsRegistry: chartsRegistry(instance), functionPackage };
  if (charts === "oci") return { values, secrets: {} };
  const credential = await credentialOf(instance);
  return {
    values: {
      ...values,
      chartsUsername: credential.username,
      imagesRegistry: REGISTRY,
      packagesRegistry: REGISTRY,
      functionPackage: mirrorOf(functionPackage),
    },
    secrets: { chartsPassword: credential.password, pullSecret: dockerConfig([REGISTRY], credential) },
  };
}

/** The images that nodes have by their upstream names otherwise, for the registry: under its own name they are pulled. */
export const mirroredImages = (images: readonly Image[]): Published[] =>
  images.map(({ reference, tar }) => {
    const colon = reference.lastIndexOf(":");
    return { repository: reference.slice(0, colon), tag: reference.slice(colon + 1), layout: tar };
  });
