/** Arguments of `npm run preview`. */
interface PreviewOptions {
  readonly stack: string;
  /** Compare with an empty state, even if an instance runs the stack. */
  readonly fromScratch: boolean;
  /** Flags for `pulumi preview`. */
  readonly flags: readonly string[];
}

const FROM_SCRATCH = "--from-scratch";

/** Reads the arguments of `npm run preview`. @throws Error if they don't start with a stack */
export function previewOptions([stack, ...rest]: readonly string[]): PreviewOptions {
  if (stack === undefined || stack.startsWith("-"))
    throw new Error(
      `<stack> is required: npm run preview -- <stack> [${FROM_SCRATCH}] [pulumi flags]; the stacks are the files stacks/Pulumi.<stack>.yaml; ` +
        `${FROM_SCRATCH} compares with an empty state, even if an instance runs the stack`,
    );
  return {
    stack,
    fromScratch: rest.includes(FROM_SCRATCH),
    flags: rest.filter((flag) => flag !== FROM_SCRATCH),
  };
}
