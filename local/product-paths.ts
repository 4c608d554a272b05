/**
 * Where the files of the product are that the embedded cloud reads or runs. No other file of local/ names a path outside of it; apart
 * from `product.ts`, because a program that needs a path only, such as the shell's `pulumi`, starts without the product's code.
 */
import { join } from "node:path";

/** Root of this checkout. */
export const CHECKOUT = join(import.meta.dirname, "..");

/** Folder of the checkout's stacks; an instance's folder has one of the same name for its own. */
export const STACKS = "stacks";

/** File names of a stack's configuration, and of its configuration of the policy pack. */
export const stackFileName = (stack: string): string => `Pulumi.${stack}.yaml`;
export const policyFileName = (stack: string): string => `policies.${stack}.json`;

export const productPaths = {
  project: join(CHECKOUT, "Pulumi.yaml"),
  stacks: join(CHECKOUT, STACKS),
  policyPack: join(CHECKOUT, "policies"),
  /** The `fleet` command. */
  fleet: join(CHECKOUT, "cli", "main.ts"),
  /** Its folder actionlint is a Go module with a program that only tests run. */
  envtest: join(CHECKOUT, "test", "envtest"),
  gitopsSystem: join(CHECKOUT, "repos", "gitops-system"),
} as const;

/** What the package of the composition function is made of, as paths from the checkout: the program, and what packs it. */
export const functionSources = ["functions/spoke", "lib"] as const;
export const packageSources = ["functions/spoke/package", "package-lock.json"] as const;
/** The part of these that writes layers of images. */
export const layerSource = "functions/spoke/package/layer.ts";
/** The part of these that takes Debian's packages apart. */
export const debianSource = "functions/spoke/package/debian.ts";
