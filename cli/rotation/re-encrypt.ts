import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { hubSealingScope, namespaces } from "../../lib/names.ts";
import { complaint, type Ended, type Run } from "../doctor/process.ts";
import { textOf } from "../folder.ts";
import type { Manifest } from "../render/files.ts";
import type { Generation } from "../sealing/generations.ts";
import { fingerprint, noteKey } from "../sealing/seal.ts";
import { isSealedSecret, type Sealed } from "../sealing/sealed-secrets.ts";
import { UsageError } from "../usage.ts";
import type { Change } from "./keys-folder.ts";

/**
 * SealedSecrets sealed anew by a cluster's controller, which opens them and never shows what is in them: kubeseal --re-encrypt
 * (github.com/bitnami-labs/sealed-secrets v0.40.0, pkg/kubeseal/kubeseal.go, ReEncryptSealedSecret), by way of the API server's proxy.
 */

export interface Controller {
  readonly program: Run;
  /** Of the kubeconfig: a cluster that reads the scope's keys. */
  readonly context: string;
  readonly scope: string;
  /** Waits between two calls. */
  readonly pause: () => Promise<unknown>;
}

export interface ReEncrypted {
  /** Files with SealedSecrets that are sealed with the new key. */
  readonly changes: readonly Change[];
  readonly done: readonly Sealed[];
  /** What the controller could not open, with its reason. */
  readonly failed: readonly { readonly sealed: Sealed; readonly reason: string }[];
}

/** Annotations that say how a SealedSecret may be renamed: part of what is encrypted. */
const scopeAnnotation = /^sealedsecrets\.bitnami\.com\/(?:cluster|namespace)-wide$/;

async function kubeseal(
  { program, context, scope }: Controller,
  args: readonly string[],
  input?: string,
): Promise<Ended> {
  const namespace = scope === hubSealingScope ? namespaces.flux : namespaces.sealedSecrets;
  const where = [
    "--context",
    context,
    "--controller-namespace",
    namespace,
    "--controller-name",
    "sealed-secrets-controller",
  ];
  const ended = await program("kubeseal", [...args, ...where], input === undefined ? {} : { input });
  if (ended !== undefined) return ended;
  throw new UsageError(
    "kubeseal is not on PATH: install it (Sealed Secrets), or source the local stack's .local/env, and run this again",
  );
}

/** @throws UsageError when the cluster's controller seals with another key, which would make a secret that its spokes can't open */
export async function requireKey(
  controller: Controller,
  { generation, ...key }: Generation,
  others: readonly Generation[],
): Promise<void> {
  const { code, stdout, ...ended } = await kubeseal(controller, ["--fetch-cert"]);
  if (code !== 0)
    throw new UsageError(
      `the controller of Sealed Secrets on the cluster of context ${controller.context} can't be asked: ${complaint({ code, stdout, ...ended })}`,
    );
  // The youngest one is the first, and the only one that is sent.
  const found = fingerprint(stdout);
  if (found === key.fingerprint) return;
  const known = others.find((other) => other.fingerprint === found);
  const what =
    known === undefined
      ? `a key that the stack does not have (${found.slice(0, 12)})`
      : `generation ${known.generation} of ${known.scope}`;
  throw new UsageError(
    `the cluster of context ${controller.context} seals with ${what}, not with generation ${generation} of ${controller.scope}: name a cluster of this scope, and wait until it has the new key`,
  );
}

const answerSchema = z.object({ spec: z.object({ encryptedData: z.record(z.string(), z.string()) }) });

/** The encrypted values of a SealedSecret, sealed anew; or the reason why not. */
async function sealedAnew(
  controller: Controller,
  { apiVersion, kind, metadata, spec }: Manifest,
): Promise<Record<string, string> | string> {
  const { name, namespace, annotations = {} } = metadata;
  const kept = Object.entries(annotations).filter(([key]) => scopeAnnotation.test(key));
  // The controller puts the SealedSecret's metadata into the template where they differ, and so would change the Secret; its answer is
  // taken for the values alone.
  const same = { name, namespace, annotations: Object.fromEntries(kept) };
  const asked = {
    apiVersion,
    kind,
    metadata: same,
    spec: { encryptedData: spec?.encryptedData, template: { metadata: same } },
  };
  const ended = await kubeseal(controller, ["--re-encrypt", "--format", "json"], JSON.stringify(asked));
  if (ended.code !== 0) return complaint(ended);
  const answer = answerSchema.safeParse(JSON.parse(ended.stdout));
  if (!answer.success) return `kubeseal's answer is not a SealedSecret: ${z.prettifyError(answer.error)}`;
  return answer.data.spec.encryptedData;
}

/** Seals the SealedSecrets of a file anew, one after another. */
async function inFile(
  controller: Controller,
  file: string,
  wanted: readonly Sealed[],
  key: Generation,
): Promise<ReEncrypted> {
  const done: Sealed[] = [];
  const failed: { sealed: Sealed; reason: string }[] = [];
  const documents = parseAllDocuments(readFileSync(file, "utf8"));
  for (const sealed of wanted) {
    const document = documents.find((each) => {
      const content: unknown = each.toJS();
      return (
        isSealedSecret(content) &&
        content.metadata?.name === sealed.name &&
        content.metadata.namespace === sealed.namespace
      );
    });
    if (document === undefined || !("setIn" in document)) {
      failed.push({ sealed, reason: "it is no document of its own in YAML: write it as one" });
      continue;
    }
    await controller.pause();
    const values = await sealedAnew(controller, document.toJS() as Manifest);
    if (typeof values === "string") {
      failed.push({ sealed, reason: values });
      continue;
    }
    document.setIn(["spec", "encryptedData"], document.createNode(values));
    noteKey(document, key);
    done.push(sealed);
  }
  const text = file.endsWith(".json") ? `${JSON.stringify(documents[0]?.toJS(), undefined, 2)}\n` : textOf(documents);
  return { changes: done.length > 0 ? [{ path: file, text }] : [], done, failed };
}

/** Seals SealedSecrets anew with the controller's newest key, which must be `key`. */
export async function reEncrypt(
  controller: Controller,
  wanted: readonly Sealed[],
  key: Generation,
): Promise<ReEncrypted> {
  const results: ReEncrypted[] = [];
  for (const [file, sealed] of Map.groupBy(wanted, (each) => each.file))
    results.push(await inFile(controller, file, sealed, key));
  return {
    changes: results.flatMap(({ changes }) => changes),
    done: results.flatMap(({ done }) => done),
    failed: results.flatMap(({ failed }) => failed),
  };
}
