/** Inputs that stand in Secrets of the object's namespace, and passwords that the provider generates (upstream: config/common, PasswordGenerator). */
import { randomBytes } from "node:crypto";
import type { Properties } from "../../aws/properties.ts";
import type { Kind } from "./kind.ts";
import type { Objects } from "./kube.ts";
import { isDeleted, type Managed } from "./managed.ts";

/** Name of the field that holds the reference for such an input. */
export const secretReferenceName = (name: string): string => `${name}SecretRef`;

interface KeyReference {
  readonly name: string;
  readonly key: string;
}

/**
 * The values of secret inputs. One that is not there is generated where the specification asks for that.
 * @throws while there is no such Secret, or no such key in it
 */
export async function secretInputs(objects: Objects, kind: Kind, managed: Managed): Promise<Properties> {
  const { namespace } = managed.metadata;
  const values: Properties = {};
  for (const [name, { secret }] of Object.entries(kind.fields)) {
    const reference = managed.spec.forProvider[secretReferenceName(name)] as KeyReference | undefined;
    if (!secret || !reference) continue;
    const found = (await objects.readSecret(namespace, reference.name))?.[reference.key];
    if (found !== undefined && found !== "") values[name] = found;
    else if (managed.spec.forProvider[secret.generate] === true && !isDeleted(managed)) {
      const made = randomBytes(20).toString("hex");
      await objects.keepInSecret(managed, reference.name, { [reference.key]: made });
      values[name] = made;
    } else if (!isDeleted(managed))
      throw new Error(`cannot get ${name}: the Secret ${namespace}/${reference.name} has no key ${reference.key}`);
  }
  return values;
}
