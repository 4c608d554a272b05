/** Stand-in for the `tls` provider: PrivateKey and SelfSignedCert. */
import {
  type CheckFailure,
  type CheckRequest,
  type CheckResult,
  type DiffRequest,
  diffInputs,
  type JsonMap,
  openSdk,
  type PropertyMap,
  type ResourceDefinition,
  reveal,
  serveTypes,
  textOf,
} from "../framework/index.ts";
import { ALLOWED_USES, renewalDue, SUBJECT_PATHS, selfSign } from "./certificate.ts";
import { algorithmOf, generateKey, keyOutputs, readKey } from "./keys.ts";

const sdk = openSdk("tls");

const ALGORITHMS = ["RSA", "ED25519"];
const MIN_RSA_BITS = 1024;
const MAX_RSA_BITS = 16384;

/** A failure when a number that is known is not a whole one within its limits. */
function whole(news: PropertyMap, property: string, min: number, max = Number.POSITIVE_INFINITY): CheckFailure[] {
  const value = reveal(news[property] ?? null);
  if (typeof value !== "number" || (Number.isInteger(value) && value >= min && value <= max)) return [];
  const to = Number.isFinite(max) ? ` to ${max}` : "";
  return [{ property, reason: `got ${value}, allowed is a whole number from ${min}${to}` }];
}

const privateKey: ResourceDefinition<undefined> = {
  shape: sdk.shape("tls:index/privateKey:PrivateKey"),
  // The curve is recorded, as by the official plugin, and not used: this stand-in has no ECDSA.
  defaults: { rsaBits: 2048, ecdsaCurve: "P224" },
  check: ({ news }) => {
    const algorithm = reveal(news["algorithm"] ?? null);
    const reason = `got '${textOf(algorithm)}', implemented here: ${ALGORITHMS.join(", ")}. For others use the official plugin (FLEET_PULUMI_PLUGINS=official)`;
    const wrong = typeof algorithm === "string" && !ALGORITHMS.includes(algorithm);
    const failures = wrong ? [{ property: "algorithm", reason }] : [];
    return { failures: [...failures, ...whole(news, "rsaBits", MIN_RSA_BITS, MAX_RSA_BITS)] };
  },
  create: async ({ inputs }) => {
    const key = await generateKey(textOf(inputs["algorithm"]), Number(inputs["rsaBits"]));
    const { id, outputs } = keyOutputs(key);
    return { id, outputs: { ...inputs, ...outputs } };
  },
  // A key exists nowhere but in the state.
  read: async ({ state, inputs }) => {
    if (!inputs) throw new Error("a private key cannot be imported: its id does not hold the key");
    return { outputs: state };
  },
  delete: async () => {},
};

function checkCertificate({ news }: CheckRequest<undefined>): CheckResult {
  const uses = reveal(news["allowedUses"] ?? []);
  const wrongUses = Array.isArray(uses)
    ? uses.filter((use) => typeof use === "string" && !ALLOWED_USES.includes(use))
    : [];
  const key = news["privateKeyPem"] === undefined ? undefined : reveal(news["privateKeyPem"]);
  return {
    failures: [
      ...wrongUses.map((use) => ({
        property: "allowedUses",
        reason: `got '${textOf(use)}', implemented here: ${ALLOWED_USES.join(", ")}`,
      })),
      ...whole(news, "validityPeriodHours", 0),
      ...whole(news, "earlyRenewalHours", 0),
      ...(key === undefined ? [{ property: "privateKeyPem", reason: "is missing: the key that signs" }] : []),
      ...(typeof key === "string" ? keyFailures(key) : []),
    ],
  };
}

function keyFailures(pem: string): CheckFailure[] {
  try {
    algorithmOf(readKey(pem));
    return [];
  } catch (error) {
    return [{ property: "privateKeyPem", reason: (error as Error).message }];
  }
}

/** What is true of a certificate now: whether it is time to make a new one. */
function withRenewal(state: JsonMap): JsonMap {
  const early = Number(state["earlyRenewalHours"]);
  return { ...state, readyForRenewal: renewalDue(textOf(state["validityEndTime"]), early, new Date()) };
}

const selfSignedCert: ResourceDefinition<undefined> = {
  shape: sdk.shape("tls:index/selfSignedCert:SelfSignedCert"),
  accepts: [
    ...["allowedUses", "dnsNames", "earlyRenewalHours", "ipAddresses", "isCaCertificate", "maxPathLength"],
    ...["privateKeyPem", "setAuthorityKeyId", "setSubjectKeyId", "uris", "validityPeriodHours"],
    ...SUBJECT_PATHS,
  ],
  defaults: { earlyRenewalHours: 0, isCaCertificate: false, setAuthorityKeyId: false, setSubjectKeyId: false },
  check: checkCertificate,
  diff: ({ oldInputs, newInputs, state }: DiffRequest<undefined>) => {
    const inputs = Object.keys({ ...oldInputs, ...newInputs }).filter((name) => name !== "earlyRenewalHours");
    const { properties } = diffInputs(oldInputs, newInputs, { replaceOn: inputs });
    const end = state["validityEndTime"];
    const early = Number(reveal(newInputs["earlyRenewalHours"] ?? 0));
    // A certificate that is due is made anew by the next update, without any change of the program.
    if (typeof end !== "string" || !renewalDue(end, early, new Date())) return { properties };
    return { properties: { ...properties, readyForRenewal: { kind: "update", replace: true } } };
  },
  create: async ({ inputs }) => {
    const key = readKey(textOf(inputs["privateKeyPem"]));
    const { id, ...outputs } = await selfSign(inputs, key, new Date());
    return { id, outputs: withRenewal({ ...inputs, ...outputs }) };
  },
  read: async ({ state, inputs }) => {
    if (!inputs) throw new Error("a self-signed certificate cannot be imported: its id does not hold the certificate");
    return { outputs: withRenewal(state) };
  },
  update: async ({ state, inputs }) => withRenewal({ ...state, ...inputs }),
  delete: async () => {},
};

await serveTypes(sdk, [privateKey, selfSignedCert]);
