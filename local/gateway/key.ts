import { createHmac, randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SignJWT } from "jose";
import { ACCOUNT } from "../instance/cluster-id.ts";
import type { Instance } from "../instance/index.ts";

/** What derives from the secret that gateway and ministack share. */
export type GatewayKey = ReturnType<typeof gatewayKey>;

/** Credentials of an account's root. ministack checks no signature for it, so the secret key is never used. */
export const rootCredentials = (key: Pick<GatewayKey, "rootAccessKeyId" | "rootAccessKeyIdOf">, account = ACCOUNT) => ({
  accessKeyId: account === ACCOUNT ? key.rootAccessKeyId : key.rootAccessKeyIdOf(account),
  secretAccessKey: "unused",
});

/** Longer than any retry of one forwarded request, shorter than anything that could be collected. */
const ASSERTION_SECONDS = 60;

/** Path of the shared secret. */
export function gatewayKeyFile(instance: Pick<Instance, "dir">): string {
  return join(instance.dir, "ministack.key");
}

/** Makes the shared secret (32 random bytes, mode 0600) where there is none; of two at once, one wins. */
export async function ensureGatewayKey(instance: Pick<Instance, "dir">): Promise<GatewayKey> {
  const file = gatewayKeyFile(instance);
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft);
  }
  return gatewayKey(Buffer.from((await readFile(file, "ascii")).trim(), "hex"));
}

/** What derives from a shared secret; ministack/main.py derives the same. */
export function gatewayKey(secret: Uint8Array) {
  const digest = (text: string) => createHmac("sha256", secret).update(text).digest("hex").slice(0, 28).toUpperCase();
  return {
    /** Access key id of the default account's root. ministack checks no signature for it: the id itself is the secret. */
    rootAccessKeyId: `ROOT${digest("root access key")}`,
    /** The same of any other account: an account needs no record, it is whatever is made in it. */
    rootAccessKeyIdOf: (account: string): string => `ROOT${account}${digest(`root access key of ${account}`)}`,
    /** Signs claims for ministack (compact JWS, HS256); they hold for `ASSERTION_SECONDS`. */
    sign: (claims: Record<string, unknown>): Promise<string> =>
      // Not "exp": the claims of a web identity token keep their own.
      new SignJWT({ ...claims, gatewayExp: Math.floor(Date.now() / 1000) + ASSERTION_SECONDS })
        .setProtectedHeader({ alg: "HS256" })
        .sign(secret),
  };
}
