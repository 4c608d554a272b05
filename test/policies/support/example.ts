import type { Resource } from "./evaluate.ts";

/** What a policy has to say to some resources. */
export interface Example {
  /** ID of the policy. */
  readonly policy: string;
  /** What a user can rely on. */
  readonly promise: string;
  readonly resources: readonly Resource[];
  /** Parameters of the policy. */
  readonly config?: object;
  /** Every violation, `resource: message`; none when it lets the resources through. */
  readonly violations: readonly string[];
}

/** Examples of one policy: a promise, the resources, and what it says about the one that is called `it`. */
export function examplesOf(policy: string) {
  return (
    promise: string,
    resources: Resource | readonly Resource[],
    messages: readonly string[] = [],
    config?: object,
  ): Example => ({
    policy,
    promise,
    resources: Array.isArray(resources) ? resources : [resources as Resource],
    violations: messages.map((message) => (/^[\w-]+: /.test(message) ? message : `it: ${message}`)),
    ...(config ? { config } : {}),
  });
}
