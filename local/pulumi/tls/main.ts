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
  serveProvider,
  textOf,
} from "../framework/index.ts";
import { ALLOWED_USES, renewalDue, SUBJECT_PATHS, selfSign } from "./certificate.ts";
import { CURVES, generateKey, keyOutputs, readKey } from "./keys.ts";

const sdk = openSdk("tls");

function shapeOf(name: string) {
  const token = `tls:index/${name[0]?.toLowerCase()}${name.slice(1)}:${name}`;
  const shape = sdk.resource(token);
  if (!shape) throw new Error(`@pulumi/tls ${sdk.version} has no ${token}`);
  return shape;
}

function oneOf(news: PropertyMap, property: string, allowed: readonly string[]): CheckFailure[] {
  const value = news[property] === undefined ? undefined : reveal(news[property]);
  if (typeof value !== "string" || allowed.includes(value)) return [];
  return [{ property, reason: `got '${value}', allowed: ${allowed.join(", ")}` }];
}

const MIN_RSA_BITS = 1024;
const MAX_RSA_BITS = 16384;

function checkKey({ news }: CheckRequest<undefined>): CheckResult {
  const bits = news["rsaBits"];
  const wrongBits = typeof bits === "number" && (!Number.isInteger(bits) || bits < MIN_RSA_BITS || bits > MAX_RSA_BITS);
  return {
    failures: [
      ...oneOf(news, "algorithm", ["RSA", "ECDSA", "ED25519"]),
      ...oneOf(news, "ecdsaCurve", Object.keys(CURVES)),
      ...(wrongBits
        ? [
            {
              property: "rsaBits",
              reason: `got ${bits}, allowed is a whole number from ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`,
            },
          ]
        : []),
    ],
  };
}

const privateKey: ResourceDefinition<undefined> = {
  shape: shapeOf("PrivateKey"),
  defaults: { rsaBits: 2048, ecdsaCurve: "P224" },
  check: checkKey,
  create: async ({ inputs }) => {
    const key = await generateKey(textOf(inputs["algorithm"]), Number(inputs["rsaBits"]), textOf(inputs["ecdsaCurve"]));
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
        reason: `got '${textOf(use)}', allowed: ${ALLOWED_USES.join(", ")}`,
      })),
      ...positive(news, "validityPeriodHours"),
      ...positive(news, "earlyRenewalHours"),
      ...(key === undefined ? [{ property: "privateKeyPem", reason: "is missing: the key that signs" }] : []),
      ...(typeof key === "string" ? keyFailures(key) : []),
    ],
  };
}

function positive(news: PropertyMap, property: string): CheckFailure[] {
  const value = news[property];
  if (typeof value !== "number" || (Number.isInteger(value) && value >= 0)) return [];
  return [{ property, reason: `got ${value}, allowed is a whole number of hours from 0` }];
}

function keyFailures(pem: string): CheckFailure[] {
  try {
    readKey(pem);
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
  shape: shapeOf("SelfSignedCert"),
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

const table = new Map([privateKey, selfSignedCert].map((definition) => [definition.shape.token, definition]));

await serveProvider<undefined>({
  sdk,
  configure: () => undefined,
  resource: (token) => table.get(token),
  resources: [...table.keys()],
});
