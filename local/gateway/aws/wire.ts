/** A shape of the AWS SDK as REST JSON carries it: times are seconds since 1970, bytes are base64. */
export type Wire<T> = T extends Date
  ? number
  : T extends Uint8Array
    ? string
    : T extends readonly (infer E)[]
      ? Wire<E>[]
      : T extends object
        ? { [K in keyof T]: Wire<T[K]> }
        : T;

/** A shape with these members for certain. */
export type Known<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
