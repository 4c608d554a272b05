/** The AWS error code: SDK v3 puts it into `name` (and, for older protocols, into `Code`). */
function errorCode(error: unknown): string {
  const { Code, name } = (error ?? {}) as { Code?: string; name?: string };
  return Code ?? name ?? "";
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(errorCode(error));
}

const goneCode =
  /(NotFound(Exception|Fault)?|NoSuchEntity(Exception)?|NonExistentQueue|NoSuchBucket|QueueDoesNotExist)$/;

/** True when AWS says that the object does not exist (`InvalidVpcID.NotFound`, `NoSuchEntity`, `ResourceNotFoundException`, …). */
export function isGone(error: unknown): boolean {
  return goneCode.test(errorCode(error));
}

/** The result, or undefined when AWS says that the object does not exist. Other errors pass. */
export async function orGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** An error of an AWS call, with the resource that it concerned; code and message stay as AWS gave them. */
export class AwsResourceError extends Error {
  readonly code: string;

  constructor(operation: string, token: string, subject: string, cause: unknown) {
    const code = errorCode(cause);
    const message = cause instanceof Error ? cause.message : String(cause);
    super(`${operation} ${token} ${subject}: ${code && code !== "Error" ? `${code}: ` : ""}${message}`, { cause });
    this.code = code;
  }
}
