import { readFileSync } from "node:fs";
import { type Files, filesBelow, isManifest, isObject, isYaml, type Source, YamlError } from "../files.ts";
import type { Findings } from "../findings.ts";

/** Nothing secret in Git, in any file, whether a cluster gets it or not. */

const remedy =
  "seal it with kubeseal, or keep it in AWS Secrets Manager behind an ExternalSecret; what was pushed stays in the history, so replace it";

const credential = /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b/;

/** Filled in on the cluster: nothing of it is in Git. */
const variable = /^\$\{[a-z][a-z0-9_]*\}$/;

/** Whether Git says nothing of what a Secret holds. */
const isEmpty = (values: unknown): boolean =>
  !isObject(values) || Object.values(values).every((value) => typeof value === "string" && variable.test(value));

const isSecret = ({ content }: Source): boolean =>
  isManifest(content) &&
  content.apiVersion === "v1" &&
  content.kind === "Secret" &&
  !(isEmpty(content["data"]) && isEmpty(content["stringData"]));

/** The documents of a file; none of one that is not YAML, which is told where it is used. */
function documents(files: Files, file: string): readonly Source[] {
  try {
    return isYaml(file) ? files.documents(file) : [];
  } catch (error) {
    if (error instanceof YamlError) return [];
    throw error;
  }
}

export function checkSecrets(folder: string, files: Files, findings: Findings): void {
  for (const file of filesBelow(folder)) {
    const sources = documents(files, file);
    const secrets = sources.filter(isSecret);
    for (const secret of secrets) {
      const { metadata } = secret.content as { metadata?: { name?: string } };
      findings.add("plain-secret", secret.near(["kind"]), `Secret ${metadata?.name} stands here in plain text`, remedy);
    }
    for (const source of sources)
      if (isObject(source.content) && Array.isArray(source.content["secretGenerator"]))
        findings.add(
          "plain-secret",
          source.near(["secretGenerator"]),
          "a secretGenerator makes a Secret of plain text",
          remedy,
        );
    for (const [index, text] of readFileSync(file, "utf8").split("\n").entries())
      if (credential.test(text) && !secrets.some((secret) => secret.covers(index + 1)))
        findings.add(
          "plain-secret",
          { file, line: index + 1 },
          "a private key or an access key stands here in plain text",
          remedy,
        );
  }
}
