/** What annotations of an object and of its namespace ask of a controller. */
import { notBuilt, terminal } from "./halt.ts";
import { type AckObject, annotation, isAdopted, PREFIX } from "./object.ts";
import type { Settings } from "./settings.ts";

type Annotations = Readonly<Record<string, string>>;

/** Another account, region or endpoint for all of a namespace. */
const elsewhere = ["default-region", "endpoint-url", "owner-account-id", "team-id"];

/** @throws {Halt} for an object that is to be in another account or region than the controller's */
export function expectOwnPlace(object: AckObject, ofNamespace: Annotations, region: string): void {
  const asked = annotation(object, "region");
  if (asked !== undefined && asked !== region) throw notBuilt(`the annotation ${PREFIX}region is ${asked}`);
  for (const name of elsewhere) {
    const value = ofNamespace[PREFIX + name];
    if (value !== undefined) throw notBuilt(`the namespace's annotation ${PREFIX}${name} is ${value}`);
  }
}

/** Whether the object asks for what is there already, and has not got it. @throws {Halt} for a policy that is not honoured */
export function wantsAdoption(object: AckObject): boolean {
  const policy = annotation(object, "adoption-policy");
  if (policy === undefined || isAdopted(object)) return false;
  if (policy !== "adopt" && policy !== "adopt-or-create")
    throw terminal(`unrecognized adoption policy ${policy}. Supported policies are "adopt" and "adopt-or-create"`);
  if (policy === "adopt") throw notBuilt(`the annotation ${PREFIX}adoption-policy is adopt`);
  if (annotation(object, "adoption-fields") !== undefined)
    throw notBuilt(`the annotation ${PREFIX}adoption-fields is given`);
  return true;
}

/** The object's, else its namespace's for the service, else the controller's. */
export const deletionPolicyOf = (
  object: AckObject,
  ofNamespace: Annotations,
  { service, deletionPolicy }: Pick<Settings, "service" | "deletionPolicy">,
): string =>
  annotation(object, "deletion-policy") ?? ofNamespace[`${service}.${PREFIX}deletion-policy`] ?? deletionPolicy;
