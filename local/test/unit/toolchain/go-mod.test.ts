import { describe, expect, test } from "vitest";
import { openSdk } from "../../../pulumi/framework/shape.ts";
import { moduleDir } from "../../../toolchain/go.ts";
import { goGroups } from "../../../toolchain/go-groups.ts";
import { parseGoMod, programName, versionOf } from "../../../toolchain/go-mod.ts";
import { imageReferences } from "../../../toolchain/images.ts";

const text = `module m // a comment

go 1.26.8

tool example.org/a/cmd/one

tool (
	example.org/b/v3
)

require example.org/a v1.0.0
require (
	example.org/b/v3 v3.2.1 // indirect
	example.org/c v0.1.0
)

replace example.org/c => example.org/fork v0.2.0
replace (
	example.org/unused => example.org/other v9.9.9
)
`;

describe("a go.mod", () => {
  const mod = parseGoMod(text);
  test("gives the language version", () => expect(mod.go).toBe("1.26.8"));
  test("gives the programs", () => expect(mod.tools).toEqual(["example.org/a/cmd/one", "example.org/b/v3"]));
  test("gives versions, replaced ones as replaced", () =>
    expect([...mod.versions]).toEqual([
      ["example.org/a", "v1.0.0"],
      ["example.org/b/v3", "v3.2.1"],
      ["example.org/c", "v0.2.0"],
    ]));
  test("without the module asked for is an error that names it", () =>
    expect(() => versionOf(mod, "example.org/z")).toThrow("example.org/z"));
  test("without a go directive is refused", () => expect(() => parseGoMod("module m\n")).toThrow("no go directive"));
});

test.each([
  ["k8s.io/kubernetes/cmd/kubelet", "kubelet"],
  ["github.com/fluxcd/source-controller", "source-controller"],
  ["go.etcd.io/etcd/server/v3", "server"],
])("the program of %s is called %s, as go build calls it", (path, name) => expect(programName(path)).toBe(name));

describe("the toolchain's own modules", () => {
  test("build no two programs of one name", () => {
    const names = goGroups.flatMap((group) => group.programs);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(["external-secrets", "podinfo", "network-policy", "pulumi-kubernetes"])(
    "of %s share main's versions, so that nothing they share is compiled twice",
    (name) => {
      const [main, other] = ["main", name].map((one) => goGroups.find((group) => group.name === one)?.mod);
      const shared = [...(other?.versions ?? [])].filter(([path]) => main?.versions.has(path));
      expect(shared.length).toBeGreaterThan(20);
      expect(shared).toEqual(shared.map(([path]) => [path, main?.versions.get(path)]));
    },
  );

  test("set the versions that programs report", () => {
    const flags = goGroups.flatMap((group) => group.ldflags);
    expect(flags).toContain("-X k8s.io/component-base/version.gitVersion=v1.36.4");
    expect(flags).toContain("-X k8s.io/component-base/version.gitMinor=36");
    expect(flags).toContain("-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.276.0");
    // The plugin's folder has the SDK's version.
    const { version } = openSdk("kubernetes");
    expect(flags).toContain(`-X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version=${version}`);
  });

  test("name every image as charts and manifests do", () =>
    expect(imageReferences).toEqual({
      pause: "registry.k8s.io/pause:3.10",
      coredns: "registry.k8s.io/coredns/coredns:v1.14.6",
      sourceController: "ghcr.io/fluxcd/source-controller:v1.9.5",
      kustomizeController: "ghcr.io/fluxcd/kustomize-controller:v1.9.5",
      helmController: "ghcr.io/fluxcd/helm-controller:v1.6.4",
      notificationController: "ghcr.io/fluxcd/notification-controller:v1.9.3",
      sourceWatcher: "ghcr.io/fluxcd/source-watcher:v2.2.2",
      crossplane: "xpkg.crossplane.io/crossplane/crossplane:v2.4.0",
      sealedSecrets: "docker.io/bitnami/sealed-secrets-controller:0.40.0",
      externalSecrets: "ghcr.io/external-secrets/external-secrets:v0.20.4",
      podinfo: "ghcr.io/stefanprodan/podinfo:6.9.2",
    }));

  test("know no module that they don't require", () =>
    expect(() => moduleDir("example.org/none")).toThrow("requires the module example.org/none"));
});
