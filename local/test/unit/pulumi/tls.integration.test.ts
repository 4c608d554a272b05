import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PropertyMap, plainMap, Secret, UNKNOWN } from "../../../pulumi/framework/values.ts";
import { type Plugin, startPlugin } from "./harness.ts";

const KEY = "tls:index/privateKey:PrivateKey";
const CERTIFICATE = "tls:index/selfSignedCert:SelfSignedCert";

let tls: Plugin;
beforeAll(async () => {
  tls = await startPlugin("local/pulumi/tls/main.ts");
  await tls.configure({});
});
afterAll(() => tls.close());

async function make(token: string, news: PropertyMap) {
  const { inputs, failures } = await tls.check(token, "it", news);
  expect(failures).toEqual([]);
  const created = await tls.create(token, inputs);
  return { ...created, inputs, plain: plainMap(created.outputs) as Record<string, string> };
}

describe("PrivateKey", () => {
  test.each([
    [{ algorithm: "RSA", rsaBits: 2048 }, /^-----BEGIN RSA PRIVATE KEY-----/, "ssh-rsa"],
    [{ algorithm: "ED25519" }, /^-----BEGIN PRIVATE KEY-----/, "ssh-ed25519"],
  ])("%o: all notations are of one key that OpenSSH and OpenSSL read", async (news, pem, type) => {
    const { outputs, plain, id } = await make(KEY, news);
    expect(id).toMatch(/^[0-9a-f]{40}$/);
    expect(plain["privateKeyPem"]).toMatch(pem);
    const spki = (key: string) => createPublicKey(createPrivateKey(key)).export({ type: "spki", format: "pem" });
    expect(spki(plain["privateKeyPem"] as string)).toBe(plain["publicKeyPem"]);
    expect(spki(plain["privateKeyPemPkcs8"] as string)).toBe(plain["publicKeyPem"]);
    const parsed = ssh2.utils.parseKey(plain["privateKeyOpenssh"] as string);
    if (parsed instanceof Error) throw parsed;
    expect(plain["publicKeyOpenssh"]).toBe(`${type} ${parsed.getPublicSSH().toString("base64")}\n`);
    expect(plain["publicKeyFingerprintSha256"]).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
    expect(plain["publicKeyFingerprintMd5"]).toMatch(/^([0-9a-f]{2}:){15}[0-9a-f]{2}$/);
    for (const name of ["privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"])
      expect(outputs[name]).toBeInstanceOf(Secret);
    expect(outputs["publicKeyOpenssh"]).toBeTypeOf("string");
  });

  test("an algorithm or size that is not implemented is refused with what is; a curve is recorded all the same", async () => {
    const { failures } = await tls.check(KEY, "it", { algorithm: "ECDSA", rsaBits: 512 });
    expect(failures).toEqual([
      expect.stringMatching(
        /^algorithm: got 'ECDSA', implemented here: RSA, ED25519\. .*FLEET_PULUMI_PLUGINS=official/,
      ),
      "rsaBits: got 512, allowed is a whole number from 1024 to 16384",
    ]);
    expect((await make(KEY, { algorithm: "ED25519" })).plain).toMatchObject({ ecdsaCurve: "P224" });
  });

  test("every change makes a new key, and a refresh keeps the recorded one", async () => {
    const { id, inputs, outputs } = await make(KEY, { algorithm: "ED25519" });
    const again = await tls.check(KEY, "it", { algorithm: "RSA" }, inputs);
    expect((await tls.diff(KEY, id, inputs, again.inputs)).properties).toEqual({ algorithm: "update-replace" });
    expect((await tls.diff(KEY, id, inputs, inputs)).changed).toBe(false);
    const read = await tls.read(KEY, id, outputs, inputs);
    expect(read).toEqual({ id, outputs, inputs });
  });
});

describe("SelfSignedCert", () => {
  const base = {
    allowedUses: ["key_encipherment", "digital_signature", "server_auth"],
    validityPeriodHours: 24,
    subject: { commonName: "sealed-secret", organization: "fleet" },
    dnsNames: ["a.example.com"],
    ipAddresses: ["127.0.0.1"],
    uris: ["spiffe://fleet/a"],
  };

  test.each(["RSA", "ED25519"])("an %s certificate is signed by its key and says what was asked", async (algorithm) => {
    const key = await make(KEY, { algorithm, rsaBits: 2048 });
    const pem = key.plain["privateKeyPem"] as string;
    const { plain, outputs, id } = await make(CERTIFICATE, { ...base, privateKeyPem: new Secret(pem) });
    const certificate = new X509Certificate(plain["certPem"] as string);
    expect(certificate.checkPrivateKey(createPrivateKey(pem))).toBe(true);
    expect(certificate.verify(createPublicKey(createPrivateKey(pem)))).toBe(true);
    expect(certificate.subject).toBe("O=fleet\nCN=sealed-secret");
    expect(certificate.subjectAltName).toBe("DNS:a.example.com, IP Address:127.0.0.1, URI:spiffe://fleet/a");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(certificate.ca).toBe(false);
    expect(BigInt(`0x${certificate.serialNumber}`).toString()).toBe(id);
    expect(new Date(certificate.validFrom).toISOString()).toBe(
      new Date(plain["validityStartTime"] as string).toISOString(),
    );
    expect(Date.parse(plain["validityEndTime"] as string) - Date.parse(plain["validityStartTime"] as string)).toBe(
      86_400_000,
    );
    expect(outputs).toMatchObject({ keyAlgorithm: algorithm, readyForRenewal: false });
    expect(outputs["privateKeyPem"]).toBeInstanceOf(Secret);
    expect(outputs["certPem"]).toBeTypeOf("string");
  });

  test("a CA certificate has its constraints and key id", async () => {
    const key = await make(KEY, { algorithm: "ED25519" });
    const { plain } = await make(CERTIFICATE, {
      allowedUses: ["cert_signing", "crl_signing"],
      validityPeriodHours: 1,
      isCaCertificate: true,
      privateKeyPem: key.plain["privateKeyPem"] as string,
    });
    expect(new X509Certificate(plain["certPem"] as string).ca).toBe(true);
  });

  test("early renewal changes in place, everything else replaces, and a certificate that is due replaces by itself", async () => {
    const key = await make(KEY, { algorithm: "ED25519" });
    const made = await make(CERTIFICATE, { ...base, privateKeyPem: new Secret(key.plain["privateKeyPem"] as string) });
    const change = (news: PropertyMap) =>
      tls.diff(CERTIFICATE, made.id, made.inputs, { ...made.inputs, ...news }, made.outputs);
    expect((await change({ earlyRenewalHours: 1 })).properties).toEqual({ earlyRenewalHours: "update" });
    expect((await change({ dnsNames: ["b.example.com"] })).properties).toEqual({ "dnsNames[0]": "update-replace" });
    expect((await change({ earlyRenewalHours: 48 })).properties).toEqual({
      earlyRenewalHours: "update",
      readyForRenewal: "update-replace",
    });
    const old = { ...made.outputs, validityEndTime: "2020-01-01T00:00:00Z" };
    expect((await tls.read(CERTIFICATE, made.id, old, made.inputs)).outputs["readyForRenewal"]).toBe(true);
    expect((await tls.diff(CERTIFICATE, made.id, made.inputs, made.inputs, old)).properties).toEqual({
      readyForRenewal: "update-replace",
    });
  });

  test("wrong uses, a wrong key and unimplemented inputs are refused, the key is not shown", async () => {
    const wrong = { ...base, allowedUses: ["sign_everything"], privateKeyPem: new Secret("my-very-secret-text") };
    const { failures } = await tls.check(CERTIFICATE, "it", wrong);
    expect(failures).toEqual([
      expect.stringMatching(/^allowedUses: got 'sign_everything', implemented here: any_extended, cert_signing/),
      expect.stringMatching(/^privateKeyPem: privateKeyPem cannot be read as a private key/),
    ]);
    expect(failures.join()).not.toContain("my-very-secret-text");
    const subject = await tls.check(CERTIFICATE, "it", { ...base, subject: { nickname: "x" }, privateKeyPem: UNKNOWN });
    expect(subject.failures).toEqual([
      expect.stringMatching(/^subject.nickname: .* does not implement 'subject.nickname'/),
    ]);
  });
});
