/** Secret data in base64, as Kubernetes takes it: `stringData` would never remove a key. */
export function inBase64(data: Readonly<Record<string, string | Uint8Array>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
}

/** What {@link inBase64} made. */
export function fromBase64(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}
