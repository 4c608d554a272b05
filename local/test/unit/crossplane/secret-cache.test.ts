import { describe, expect, test } from "vitest";
import type { Call } from "../../../crossplane/provider-aws/cluster/client.ts";
import { clusterObjects } from "../../../crossplane/provider-aws/cluster/objects.ts";
import type { Managed } from "../../../crossplane/provider-aws/managed.ts";

/** An API server of which a service account has these rights on the Secrets of all namespaces, and every right in one of them. */
function serve(...verbs: string[]) {
  const allowed = new Set(verbs);
  const asked: string[] = [];
  const answer = ({ method = "GET", path, body }: Call): unknown => {
    asked.push(`${method} ${path}`);
    if (!path.endsWith("/selfsubjectaccessreviews"))
      return path.endsWith("/known") ? { metadata: {}, data: {} } : undefined;
    const { verb, resource, namespace } = (body as { spec: { resourceAttributes: Record<string, string> } }).spec
      .resourceAttributes;
    return { status: { allowed: resource === "secrets" && namespace === undefined && allowed.has(verb ?? "") } };
  };
  const client = {
    call: async <T>(call: Call) => answer(call) as T,
    find: async <T>(call: Call) => answer(call) as T | undefined,
  };
  return { allowed, asked, objects: clusterObjects(client, "provider-aws-rds") };
}
const owner = { metadata: { name: "main", namespace: "ledgers", uid: "1" } } as Managed;
const ofSecrets = (asked: readonly string[]) => asked.filter((each) => each.includes("/secrets"));

describe("a Secret, for a service account", () => {
  test.for([
    [[], "list"],
    [["list"], "watch"],
    [["get", "watch"], "list"],
  ] as const)("with %j on Secrets of all namespaces is not read or written without %s", async ([verbs, missing]) => {
    const { asked, objects } = serve(...verbs);
    const refused = `may not ${missing} the Secrets of all namespaces`;
    await expect(objects.readSecret("ledgers", "known")).rejects.toThrow(refused);
    await expect(objects.writeSecret(owner, "connection", {})).rejects.toThrow(refused);
    await expect(objects.keepInSecret(owner, "known", {})).rejects.toThrow(refused);
    expect(ofSecrets(asked)).toEqual([]);
  });

  test("is read as soon as the permissions exist, which are reviewed once", async () => {
    const { allowed, asked, objects } = serve("list");
    await expect(objects.readSecret("ledgers", "known")).rejects.toThrow("watch");
    allowed.add("watch");
    asked.length = 0;
    expect(await objects.readSecret("ledgers", "known")).toEqual({});
    expect(await objects.readSecret("ledgers", "known")).toEqual({});
    expect(asked).toEqual([
      ...Array(2).fill("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
      ...Array(2).fill("GET /api/v1/namespaces/ledgers/secrets/known"),
    ]);
  });

  test("that nothing reads needs no review of permissions", async () => {
    const { asked, objects } = serve();
    await objects.providerConfig("ClusterProviderConfig", "ledgers", "default");
    expect(asked.some((each) => each.includes("selfsubjectaccessreviews"))).toBe(false);
  });
});
