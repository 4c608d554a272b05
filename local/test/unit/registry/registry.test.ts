import { describe, expect, test } from "vitest";
import { instanceAt } from "../../../instance/index.ts";
import { mirrorOf, registryConfig } from "../../../registry/index.ts";

describe("the registry", () => {
  const instance = instanceAt("/tmp/x", 3);

  test("listens at its server's address only, over TLS, and keeps its images in the instance", () => {
    const server = { address: "100.67.255.1:5000", readOnly: true, isPrivate: false };
    const config = JSON.parse(registryConfig(instance, { certificate: "/c", key: "/k" }, server));
    expect(config.http).toMatchObject({ addr: "100.67.255.1:5000", tls: { certificate: "/c", key: "/k" } });
    expect(config.storage.filesystem.rootdirectory).toBe("/tmp/x/registry/storage");
  });

  test("has upstream's repositories under their whole names", () => {
    expect(mirrorOf("xpkg.crossplane.io/crossplane-contrib")).toBe(
      "registry.fleet.internal:5000/xpkg.crossplane.io/crossplane-contrib",
    );
  });
});
