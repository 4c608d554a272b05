import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { parse } from "yaml";
import { withMachinery } from "../../lib/machinery.ts";
import { closed, type Schema } from "../../lib/openapi.ts";
import { isObject, type Manifest } from "../render/files.ts";
import { type SchemaError, schemaErrors } from "./schema-errors.ts";

/**
 * The definitions of kinds: CustomResourceDefinitions, the CompositeResourceDefinitions of the repositories, and for
 * Kubernetes' own kinds its OpenAPI documents (`kubectl get --raw /openapi/v3/apis/apps/v1`).
 */

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly deprecated?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
}

/** A CustomResourceDefinition, or the CompositeResourceDefinition from which Crossplane makes one. */
export interface Definition {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly versions: readonly Version[];
  /** Of a CompositeResourceDefinition. */
  readonly isComposite: boolean;
}

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** A document of a file. */
type Document = OpenApi & Partial<Manifest> & { readonly items?: readonly Manifest[] };

const text = { type: "string" };
const labels = { type: "object", additionalProperties: text };

/** The members of metadata that people write. */
const objectMeta: Schema = {
  type: "object",
  additionalProperties: false,
  properties: {
    name: text,
    namespace: text,
    labels,
    annotations: labels,
    finalizers: { type: "array", items: text },
  } as Record<string, Schema>,
};

const names = { type: "array", items: text };
const open = { "x-kubernetes-preserve-unknown-fields": true };

/** Checked without a definition: that text is text, in the places where variables that look like a number or a list are used most. */
const always: Readonly<Record<string, Schema>> = {
  "v1 ConfigMap": { type: "object", ...open, properties: { data: labels } },
  "kustomize.toolkit.fluxcd.io/v1 Kustomization": {
    type: "object",
    ...open,
    properties: { spec: { type: "object", ...open, properties: { path: text, components: names } } },
  },
};

const ajv = new Ajv({ strict: false, allErrors: true, verbose: true, validateFormats: false, logger: false });

const compiled = new Map<string, ValidateFunction>();

/** Each schema once: compiling takes longer than all that is validated with it. */
function validator(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validate);
  return validate;
}

function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => join(path, name))
    .filter((file) => /\.(ya?ml|json)$/.test(file));
}

function definition(object: Manifest): Definition | undefined {
  const { kind, spec } = object;
  if (!["CustomResourceDefinition", "CompositeResourceDefinition"].includes(kind) || !isObject(spec)) return undefined;
  const { group, names, versions } = spec as Record<string, unknown> & { names?: { kind: string; plural: string } };
  if (!names || !Array.isArray(versions)) return undefined;
  const isComposite = kind === "CompositeResourceDefinition";
  return { group: String(group), kind: names.kind, plural: names.plural, versions, isComposite };
}

export class Definitions {
  /** By group and kind; those in files of their own stay text until they are needed, because parsing all of them would take seconds. */
  readonly #custom = new Map<string, Definition | string>();
  readonly #groups = new Set<string>();
  readonly #builtIn = new Map<string, { readonly document: OpenApi; readonly name: string }>();
  readonly #schemas = new Map<string, Schema>();
  readonly #validators = new Map<string, ValidateFunction | undefined>();

  /**
   * @param paths folders and files with CustomResourceDefinitions (YAML) and OpenAPI v3 documents (JSON). A later path takes precedence
   * over an earlier one. Within a folder a list, which a cluster printed, takes precedence over single definitions, and then the later
   * file
   */
  constructor(paths: readonly string[] = []) {
    for (const path of paths) {
      const lists = filesBelow(path).flatMap((file) => this.#addFile(file));
      for (const each of lists.flat()) this.add(each);
    }
  }

  /** @returns the lists of the file, which are not added yet. */
  #addFile(file: string): Manifest[][] {
    const content = readFileSync(file, "utf8");
    if (file.endsWith(".json")) return this.#addDocument(JSON.parse(content) as Document);
    return content.split(/^---$/m).flatMap((part) => {
      const group = /^ {2}group: (\S+)$/m.exec(part)?.[1];
      const kind = /^ {4}kind: (\S+)$/m.exec(part)?.[1];
      if (/^kind: CustomResourceDefinition$/m.test(part) && group && kind) {
        this.#custom.set(`${group} ${kind}`, part);
        this.#groups.add(group);
        return [];
      }
      return part.includes("CustomResourceDefinition") ? this.#addDocument(parse(part) as Document) : [];
    });
  }

  /** @returns the list that the document is, if it is one. */
  #addDocument(document: Document | null): Manifest[][] {
    if (!document) return [];
    if (document.items) return [document.items.filter(isObject)];
    if (document.kind) this.add(document as Manifest);
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
      for (const { group, version, kind } of (schema["x-kubernetes-group-version-kind"] ?? []) as Record<
        string,
        string
      >[])
        this.#builtIn.set(`${group ? `${group}/` : ""}${version} ${kind}`, { document, name });
    return [];
  }

  /** Adds an object that may be a definition; it replaces one of the same kind. */
  add(object: Manifest): void {
    const found = definition(object);
    if (!found) return;
    this.#custom.set(`${found.group} ${found.kind}`, found);
    this.#groups.add(found.group);
  }

  find(group: string, kind: string): Definition | undefined {
    const key = `${group} ${kind}`;
    const known = this.#custom.get(key);
    if (typeof known !== "string") return known;
    const read = definition(parse(known) as Manifest);
    if (read) this.#custom.set(key, read);
    else this.#custom.delete(key);
    return read;
  }

  knowsGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  /** Whether there is a complete definition of a kind. */
  knows({ apiVersion, kind }: Manifest): boolean {
    return this.#builtIn.has(`${apiVersion} ${kind}`) || this.schemaOf({ apiVersion, kind }) !== undefined;
  }

  /** The errors of a manifest; undefined when there is no definition of its kind or version. */
  schemaErrors(manifest: Manifest): SchemaError[] | undefined {
    const key = `${manifest.apiVersion} ${manifest.kind}`;
    if (!this.#validators.has(key)) this.#validators.set(key, this.#validator(manifest));
    const validate = this.#validators.get(key);
    if (!validate) return undefined;
    validate(manifest);
    return schemaErrors(validate.errors ?? []);
  }

  #validator({ apiVersion, kind }: Manifest): ValidateFunction | undefined {
    const own = this.#builtIn.get(`${apiVersion} ${kind}`);
    if (own) return this.#builtInValidator(own);
    const schema = this.schemaOf({ apiVersion, kind }) ?? always[`${apiVersion} ${kind}`];
    if (!schema) return undefined;
    return validator(
      closed({ ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata: objectMeta } }),
    );
  }

  /** The schema of a kind that has a definition; undefined for Kubernetes' own kinds, and if the version is not served. */
  schemaOf({ apiVersion, kind }: Pick<Manifest, "apiVersion" | "kind">): Schema | undefined {
    const key = `${apiVersion} ${kind}`;
    const schema = this.#schemas.get(key) ?? this.#schema(apiVersion, kind);
    if (schema) this.#schemas.set(key, schema);
    return schema;
  }

  #schema(apiVersion: string, kind: string): Schema | undefined {
    const [group = "", name] = apiVersion.split("/");
    const found = name === undefined ? undefined : this.find(group, kind);
    const schema = found?.versions.find((version) => version.name === name && version.served)?.schema?.openAPIV3Schema;
    return found?.isComposite && schema ? withMachinery(schema) : schema;
  }

  #builtInValidator({ document, name }: { document: OpenApi; name: string }): ValidateFunction {
    const schemas = Object.fromEntries(
      Object.entries(document.components?.schemas ?? {}).map(([key, schema]) => [key, closed(schema)]),
    );
    return ajv.compile({ components: { schemas }, $ref: `#/components/schemas/${name}` });
  }
}
