import { isSigner } from "../../../lib/signers.ts";
import { type Files, filesBelow, isManifest, isObject, isYaml, type Source, YamlError } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";

/** No secrets in Git, in any file, whether a cluster applies it or not. */

const remedy =
  "seal it with kubeseal, or keep it in AWS Secrets Manager and read it with an ExternalSecret; if it was pushed it stays in the history, so replace it";

const credential = /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b/;

/** The name of the variable of which a value consists; undefined if there is anything else in the value. */
const variableOf = (value: unknown): string | undefined =>
  typeof value === "string" ? /^\$\{([a-z][a-z0-9_]*)\}$/.exec(value)?.[1] : undefined;

/** Names of the variables whose values are in Git: in `substitute` of a Flux Kustomization, or in a ConfigMap that it may read. */
function variablesOfGit(sources: readonly Source[]): ReadonlySet<string> {
  const literal = (values: unknown) =>
    isObject(values) ? Object.keys(values).filter((name) => variableOf(values[name]) === undefined) : [];
  return new Set(
    sources.flatMap(({ content }) => {
      if (!isManifest(content)) return [];
      if (content.kind === "ConfigMap") return literal(content["data"]);
      return content.kind === "Kustomization" ? literal(content.spec?.postBuild?.substitute) : [];
    }),
  );
}

/** Whether a Secret's values come from variables that are not in Git. */
const isEmpty = (values: unknown, inGit: ReadonlySet<string>): boolean =>
  !isObject(values) ||
  Object.values(values).every((value) => {
    const name = variableOf(value);
    return name !== undefined && !inGit.has(name);
  });

const within = (value: unknown, keys: readonly string[]): boolean =>
  isObject(value) && Object.keys(value).every((key) => keys.includes(key));

/** Whether it is an Argo CD cluster secret that says where a cluster is and as which role Argo CD acts there, without a credential. */
function isClusterOfArgocd({ metadata, stringData, data }: Record<string, unknown>): boolean {
  const labels = isObject(metadata) && isObject(metadata["labels"]) ? metadata["labels"] : {};
  if (labels["argocd.argoproj.io/secret-type"] !== "cluster" || data !== undefined || !isObject(stringData))
    return false;
  if (!within(stringData, ["clusterResources", "config", "name", "namespaces", "server"])) return false;
  try {
    const config: unknown = JSON.parse(String(stringData["config"]));
    return (
      isObject(config) &&
      within(config, ["awsAuthConfig", "tlsClientConfig"]) &&
      within(config["awsAuthConfig"] ?? {}, ["clusterName", "roleARN"]) &&
      within(config["tlsClientConfig"] ?? {}, ["caData", "insecure"])
    );
  } catch {
    // What can't be read may hold anything.
    return false;
  }
}

/** Whether it holds public keys of people who sign commits, and nothing besides: Flux reads these from Secrets only. */
const isOfSigners = ({ stringData, data }: Record<string, unknown>): boolean =>
  data === undefined &&
  isObject(stringData) &&
  Object.entries(stringData).every(([name, text]) => typeof text === "string" && isSigner(name, text));

const isSecret = ({ content }: Source, inGit: ReadonlySet<string>): boolean =>
  isManifest(content) &&
  content.apiVersion === "v1" &&
  content.kind === "Secret" &&
  !isClusterOfArgocd({ ...content }) &&
  !isOfSigners({ ...content }) &&
  !(isEmpty(content["data"], inGit) && isEmpty(content["stringData"], inGit));

/** The documents of a file; none if it is not YAML, which is reported where the file is used. */
function documents(files: Files, file: string): readonly Source[] {
  try {
    return isYaml(file) ? files.documents(file) : [];
  } catch (error) {
    if (error instanceof YamlError) return [];
    throw error;
  }
}

export function checkSecrets(folder: string, files: Files, findings: Findings): void {
  const all = filesBelow(folder).map((file) => ({ file, sources: documents(files, file) }));
  const inGit = variablesOfGit(all.flatMap(({ sources }) => sources));
  for (const { file, sources } of all) {
    const secrets = sources.filter((source) => isSecret(source, inGit));
    for (const secret of secrets) {
      const { metadata } = secret.content as { metadata?: { name?: string } };
      findings.add("plain-secret", secret.near(["kind"]), `Secret ${metadata?.name} is here in plain text`, remedy);
    }
    for (const source of sources)
      if (isObject(source.content) && Array.isArray(source.content["secretGenerator"]))
        findings.add(
          "plain-secret",
          source.near(["secretGenerator"]),
          "a secretGenerator makes a Secret of plain text",
          remedy,
        );
    const text = files.text(file);
    if (!credential.test(text)) continue;
    for (const [index, line] of text.split("\n").entries())
      if (credential.test(line) && !secrets.some((secret) => secret.covers(index + 1)))
        findings.add(
          "plain-secret",
          { file, line: index + 1 },
          "a private key or an access key is here in plain text",
          remedy,
        );
  }
}
