import type { Example } from "../support/example.ts";
import { eksExamples } from "./eks.ts";
import { iamExamples } from "./iam.ts";
import { kubernetesExamples } from "./kubernetes.ts";
import { networkExamples } from "./network.ts";
import { secretExamples } from "./secrets.ts";
import { stackExamples } from "./stack.ts";
import { tagExamples } from "./tags.ts";

/** What every policy has to say: at least one example that it stops, and one that it lets through. */
export const examples: readonly Example[] = [
  ...eksExamples,
  ...iamExamples,
  ...secretExamples,
  ...networkExamples,
  ...kubernetesExamples,
  ...tagExamples,
  ...stackExamples,
];
