import * as pulumi from "@pulumi/pulumi";

/**
 * An error that a person made and can correct: the program ends with its message and exit code 1, without a stack trace.
 * The stack trace is deleted, because Pulumi formats it even where it hides it, and Node 22.23 can need half a minute and
 * a gigabyte for a line whose source map ends right after a package name (util.inspect, markNodeModules).
 */
export function userError(message: string): pulumi.RunError {
  const error = new pulumi.RunError(message);
  error.stack = "";
  return error;
}
