/** The YAML that requests carry as bytes: rules files and alert manager definitions. */
import { parse } from "yaml";
import * as z from "zod";
import { conflict, invalid } from "./errors.ts";

/** As requests carry it: base64. */
export const data = z.base64().min(1);

export const textOf = (base64: string): string => Buffer.from(base64, "base64").toString("utf8");

/** Throws ValidationException unless a document is YAML of this shape. `what` begins its message. */
export function expectYaml(what: string, base64: string, shape: z.ZodType): void {
  let document: unknown;
  try {
    document = parse(textOf(base64));
  } catch (error) {
    throw invalid(`${what}: data is not valid YAML: ${(error as Error).message}`);
  }
  const { error } = shape.safeParse(document);
  if (error === undefined) return;
  const problems = error.issues.map(({ path, message }) => `${path.join(".") || "document"}: ${message}`);
  throw invalid(`${what}: ${problems.join("; ")}`);
}

/** What a definition's status can be. */
interface Status {
  status: { statusCode?: string | undefined };
}

/** Throws ConflictException while AWS works on a definition: a change waits for its end. */
export function expectSettled({ status }: Status, ...[type, id]: [Parameters<typeof conflict>[0], string]): void {
  if (/ING$/.test(status.statusCode ?? ""))
    throw conflict(type, id, `${id} is ${status.statusCode}: wait until that has ended`);
}
