/**
 * Property values to and from protobuf Structs.
 *
 * Source of the signatures and sentinels: sdk/go/common/resource/plugin/rpc.go of Pulumi 3.250.
 */
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import structpb from "google-protobuf/google/protobuf/struct_pb.js";
import { isMap, type PropertyMap, Secret, textOf, UNKNOWN, Unknown, type Value } from "./values.ts";

/** Key that marks a map as a special value. */
export const SIGNATURE_KEY = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
/** Special values that no type of the stand-ins takes. */
const REFUSED: Readonly<Record<string, string>> = {
  c44067f5952c0a294b673a41bacd8c17: "an asset",
  "0def7320c3a5731c473e5ecbe6d01bc7": "an archive",
  "5cf8f73096256a8f31e491e813e4eb8e": "a reference to a resource",
  d0e6a833031e9bbcd3f4e8bde6ca49a4: "an output",
};

/** Sentinel that the engine reads as "unknown". */
const UNKNOWN_SENTINEL = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/** Every sentinel that the engine may send: string, bool, number, array, asset, archive, object. */
const UNKNOWN_SENTINELS: ReadonlySet<string> = new Set([
  UNKNOWN_SENTINEL,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/** A Struct as properties; a missing Struct is an empty map. */
export function decode(struct: Struct | undefined): PropertyMap {
  return struct ? decodeMap(struct.toJavaScript() as Record<string, unknown>) : {};
}

/** The value of one JSON-like wire value, e.g. one that was JSON-encoded by the SDK. */
export function decodeValue(wire: unknown): Value {
  if (wire === null || wire === undefined) return null;
  if (typeof wire === "string") return UNKNOWN_SENTINELS.has(wire) ? UNKNOWN : wire;
  if (typeof wire === "number" || typeof wire === "boolean") return wire;
  if (Array.isArray(wire)) return wire.map(decodeValue);
  const map = wire as Record<string, unknown>;
  const signature = map[SIGNATURE_KEY];
  if (signature === undefined) return decodeMap(map);
  if (signature === SECRET) return new Secret(decodeValue(map["value"]));
  const what = REFUSED[textOf(signature)] ?? `a value with the unknown signature ${textOf(signature)}`;
  throw new TypeError(`got ${what}, allowed is plain data`);
}

function decodeMap(map: Record<string, unknown>): PropertyMap {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, decodeValue(value)]));
}

/** Properties as a Struct; `undefined` members of maps are left out. */
export function encode(map: PropertyMap): Struct {
  return structpb.Struct.fromJavaScript(encodeMap(map) as Parameters<typeof structpb.Struct.fromJavaScript>[0]);
}

function encodeMap(map: PropertyMap): Record<string, unknown> {
  const entries = Object.entries(map).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, encodeValue(value)]));
}

function encodeValue(value: Value): unknown {
  if (value instanceof Unknown) return UNKNOWN_SENTINEL;
  if (value instanceof Secret) return { [SIGNATURE_KEY]: SECRET, value: encodeValue(value.value) };
  if (Array.isArray(value)) return value.map((item) => encodeValue(item ?? null));
  if (isMap(value)) return encodeMap(value);
  if (value === null || ["string", "boolean"].includes(typeof value)) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError(`got a ${typeof value} (${String(value)}), which a Pulumi property cannot hold`);
}
