import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Instance } from "../instance/addresses.ts";
import { exchange } from "../instance/exchange.ts";
import { withLock } from "../instance/lock.ts";
import { type ProcessSpec, supervisorOf } from "../supervisor/client.ts";
import { ensureAuthority, type KeyFiles, keyFiles } from "./pki.ts";

const PROCESS = "etcd";

/** URL of the instance's etcd, for clients with a certificate of its authority. */
export function etcdUrl(instance: Instance): string {
  return `https://${instance.loopbackAddress}:2379`;
}

/** Where the certificates for etcd are. */
export function etcdFiles(instance: Instance): { ca: string; client: KeyFiles } {
  const pki = join(instance.paths.etcd, "pki");
  return { ca: keyFiles(pki, "ca").certificate, client: keyFiles(pki, "client") };
}

/** Starts the etcd that all clusters of an instance share, each under a prefix of its own. Idempotent. */
export async function ensureEtcd(instance: Instance, program: string): Promise<void> {
  await withLock(`${instance.index}/etcd`, async () => {
    const pki = join(instance.paths.etcd, "pki");
    const authority = await ensureAuthority(pki, "ca", "etcd-ca");
    const server = await authority.issue("server", { commonName: PROCESS, addresses: [instance.loopbackAddress] });
    await authority.issue("client", { commonName: "client" });
    await supervisorOf(instance).start(etcdSpec(instance, program, authority.files.certificate, server));
  });
}

/** The process. */
export function etcdSpec(instance: Instance, program: string, ca: string, server: KeyFiles): ProcessSpec {
  const peer = `https://${instance.loopbackAddress}:2380`;
  return {
    id: PROCESS,
    argv: [
      program,
      `--name=${PROCESS}`,
      `--data-dir=${join(instance.paths.etcd, "data")}`,
      `--listen-client-urls=${etcdUrl(instance)}`,
      `--advertise-client-urls=${etcdUrl(instance)}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${PROCESS}=${peer}`,
      "--client-cert-auth=true",
      `--trusted-ca-file=${ca}`,
      `--cert-file=${server.certificate}`,
      `--key-file=${server.key}`,
      "--peer-client-cert-auth=true",
      `--peer-trusted-ca-file=${ca}`,
      `--peer-cert-file=${server.certificate}`,
      `--peer-key-file=${server.key}`,
      "--log-level=warn",
      // A kill loses nothing without fsync, only a power failure does: then the embedded cloud is made again.
      "--unsafe-no-fsync=true",
    ],
    // The port alone is no proof: etcd listens before it has a leader, but its clients wait for that.
    ready: { tcp: { host: instance.loopbackAddress, port: 2379 } },
  };
}

/** Deletes every key of a cluster. Needs a running etcd. */
export async function deletePrefix(instance: Instance, prefix: string): Promise<void> {
  await call(instance, "kv/deleterange", { key: base64(`${prefix}/`), range_end: base64(`${prefix}0`) });
}

/**
 * Has etcd refuse every write, as one whose space is used up does, or take them again
 * (https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota).
 */
export async function setNoSpace(instance: Instance, isFull: boolean): Promise<void> {
  const { header } = (await call(instance, "maintenance/status", {})) as { header: { member_id: string } };
  const action = isFull ? "ACTIVATE" : "DEACTIVATE";
  await call(instance, "maintenance/alarm", { action, memberID: header.member_id, alarm: "NOSPACE" });
}

async function call(instance: Instance, path: string, body: object): Promise<unknown> {
  const { ca, client } = etcdFiles(instance);
  const [caPem, cert, key] = await Promise.all([ca, client.certificate, client.key].map((path) => readFile(path)));
  const options = { method: "POST", ca: caPem, cert, key };
  const { status, text } = await exchange(`${etcdUrl(instance)}/v3/${path}`, options, JSON.stringify(body));
  if (status !== 200) throw new Error(`etcd refused ${path}: status ${status}: ${text}`);
  return JSON.parse(text);
}

/** Stops etcd and removes its data. Idempotent. */
export async function removeEtcd(instance: Instance): Promise<void> {
  await withLock(`${instance.index}/etcd`, async () => {
    await supervisorOf(instance).stop(PROCESS);
    await rm(instance.paths.etcd, { recursive: true, force: true });
  });
}

// "0" is the character after "/": the range [prefix/, prefix0) is all keys below the prefix.
function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
