import { EKSClient } from "@aws-sdk/client-eks";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Target } from "../../../cli/upstream/references.ts";
import { exitCode, report } from "../../../cli/upstream/report.ts";
import { type Outcome, type ResolveOptions, resolve } from "../../../cli/upstream/resolve.ts";
import { type Answer, Upstream } from "./server.ts";

const upstream = new Upstream();
beforeAll(upstream.listen);
afterAll(upstream.close);
beforeEach(() => {
  upstream.routes.clear();
  upstream.asked.length = 0;
});

const today = "2026-11-22";

const outcomes = (targets: readonly Target[], more: Partial<ResolveOptions> = {}) =>
  resolve(
    targets.map((target) => ({ ...target, origins: ["file.yaml:1"] })),
    { ...upstream.client(), today, ...more },
  );

/** The state of one target, with the message. */
async function verdict(target: Target, more: Partial<ResolveOptions> = {}): Promise<string> {
  const [{ state, message = "" } = {} as Outcome] = await outcomes([target], more);
  return `${state} ${message}`.trim();
}

const chart = { kind: "chart", name: "tool", version: "1.2.3", repository: "https://charts.example/stable" } as const;

const index = (urls: readonly string[] = ["tool-1.2.3.tgz"]): Answer => ({
  body: `entries:\n  tool:\n    - version: 2.0.0\n      urls: [tool-2.0.0.tgz]\n    - version: 1.2.3\n      urls: [${urls.join()}]\n`,
});

describe("a chart is right", () => {
  test.each([
    ["beside its index", "tool-1.2.3.tgz", "charts.example/stable/tool-1.2.3.tgz"],
    ["on another host", "https://downloads.example/tool-1.2.3.tgz", "downloads.example/tool-1.2.3.tgz"],
  ])("when the index lists the version and its archive is there: %s", async (_, url, address) => {
    upstream.routes.set("charts.example/stable/index.yaml", index([url]));
    upstream.routes.set(address, { status: 206, body: "t" });
    expect(await verdict(chart)).toBe("right");
  });

  test("and its repository's index is read once for all its charts", async () => {
    upstream.routes.set("charts.example/stable/index.yaml", index());
    upstream.routes.set("charts.example/stable/tool-1.2.3.tgz", { body: "t" });
    upstream.routes.set("charts.example/stable/tool-2.0.0.tgz", { body: "t" });
    const found = await outcomes([chart, { ...chart, version: "2.0.0" }]);
    expect(found.map(({ state }) => state)).toEqual(["right", "right"]);
    expect(upstream.asked.filter((address) => address.endsWith("index.yaml"))).toHaveLength(1);
  });

  test("when an OCI registry has it under its name and version", async () => {
    upstream.routes.set("registry.example/v2/charts/tool/manifests/1.2.3_1", {
      body: { config: { digest: "sha256:c" } },
    });
    expect(await verdict({ ...chart, version: "1.2.3+1", repository: "oci://registry.example/charts" })).toBe("right");
    expect(await verdict({ ...chart, version: "1.2.4", repository: "oci://registry.example/charts" })).toMatch(
      /^wrong .*tool\/manifests\/1\.2\.4: status 404$/,
    );
  });
});

describe("a chart is wrong", () => {
  test("when its repository has moved away", async () => {
    expect(await verdict(chart)).toBe("wrong https://charts.example/stable/index.yaml: status 404");
  });

  test("when the repository lacks the version, or the chart", async () => {
    upstream.routes.set("charts.example/stable/index.yaml", index());
    expect(await verdict({ ...chart, version: "1.2.4" })).toContain(
      "wrong https://charts.example/stable has no version 1.2.4 of tool; it lists 2.0.0, 1.2.3",
    );
    expect(await verdict({ ...chart, name: "other" })).toBe("wrong https://charts.example/stable has no chart other");
  });

  test("when the archive that the index names is gone", async () => {
    upstream.routes.set("charts.example/stable/index.yaml", index());
    expect(await verdict(chart)).toBe("wrong https://charts.example/stable/tool-1.2.3.tgz: status 404");
  });
});

const image = { kind: "image", reference: "registry.example/team/app:v1" } as const;
const platforms = (...architectures: string[]): Answer => ({
  body: {
    manifests: [
      ...architectures.map((architecture) => ({ platform: { os: "linux", architecture } })),
      // Attestations stand beside images.
      { platform: { os: "unknown", architecture: "unknown" } },
    ],
  },
});
const manifests = "registry.example/v2/team/app/manifests/v1";

describe("an image is right", () => {
  test("when it is there for both architectures", async () => {
    upstream.routes.set(manifests, platforms("amd64", "arm64"));
    expect(await verdict(image)).toBe("right");
  });

  test("when everybody gets a token for it", async () => {
    upstream.routes.set("auth.example/token?service=registry&scope=repository:team/app:pull", {
      body: { token: "anonymous" },
    });
    upstream.routes.set(manifests, ({ headers }) =>
      headers.authorization === "Bearer anonymous"
        ? platforms("amd64", "arm64")
        : {
            status: 401,
            headers: {
              "www-authenticate":
                'Bearer realm="https://auth.example/token",service="registry",scope="repository:team/app:pull"',
            },
          },
    );
    expect(await verdict(image)).toBe("right");
  });

  test("by the names that Docker Hub knows", async () => {
    upstream.routes.set("registry-1.docker.io/v2/library/app/manifests/1", platforms("amd64", "arm64"));
    upstream.routes.set("registry-1.docker.io/v2/team/app/manifests/1", platforms("amd64", "arm64"));
    expect(await verdict({ kind: "image", reference: "app:1" })).toBe("right");
    expect(await verdict({ kind: "image", reference: "docker.io/team/app:1" })).toBe("right");
  });

  test("by a digest too, which wins over a tag", async () => {
    const digest = `sha256:${"a".repeat(64)}`;
    upstream.routes.set(`registry.example/v2/team/app/manifests/${digest}`, platforms("amd64", "arm64"));
    expect(await verdict({ kind: "image", reference: `registry.example/team/app:v1@${digest}` })).toBe("right");
  });
});

describe("an image is wrong", () => {
  test("when its tag is not there", async () => {
    expect(await verdict(image)).toBe("wrong https://registry.example/v2/team/app/manifests/v1: status 404");
  });

  test("when it lacks an architecture", async () => {
    upstream.routes.set(manifests, platforms("amd64"));
    expect(await verdict(image)).toBe(
      "wrong registry.example/team/app:v1 is not there for linux/arm64; it is for amd64",
    );
  });

  test("when its one manifest is for one architecture, which its configuration says", async () => {
    upstream.routes.set(manifests, { body: { config: { digest: "sha256:c" } } });
    upstream.routes.set("registry.example/v2/team/app/blobs/sha256:c", { body: { architecture: "arm64" } });
    expect(await verdict({ ...image, kind: "package" })).toBe(
      "wrong registry.example/team/app:v1 is not there for linux/amd64; it is for arm64",
    );
  });

  test.each([401, 403])("when it is private: status %i", async (status) => {
    upstream.routes.set(manifests, { status });
    expect(await verdict(image)).toContain(`status ${status}: it was never published, or is not public`);
  });

  // Answers of ghcr.io to readers without a login, in 2026.
  test.each([
    ["was never published", 403, { code: "DENIED", message: "requested access to the resource is denied" }],
    ["is private", 401, { code: "UNAUTHORIZED", message: "authentication required" }],
  ])("when it %s at ghcr.io, which refuses the token with status %i", async (_, status, error) => {
    const scope = "repository:acme/function-spoke:pull";
    upstream.routes.set("ghcr.io/v2/acme/function-spoke/manifests/v1", {
      status: 401,
      headers: { "www-authenticate": `Bearer realm="https://ghcr.io/token",service="ghcr.io",scope="${scope}"` },
      body: { errors: [{ code: "UNAUTHORIZED", message: "authentication required" }] },
    });
    upstream.routes.set(`ghcr.io/token?service=ghcr.io&scope=${scope}`, { status, body: { errors: [error] } });
    expect(await verdict({ kind: "package", reference: "ghcr.io/acme/function-spoke:v1" })).toBe(
      `wrong https://ghcr.io/v2/acme/function-spoke/manifests/v1: status ${status}: it was never published, or is not public`,
    );
  });
});

const action = { kind: "action", repository: "owner/act", commit: "c".repeat(40), tag: "v1.0.0" } as const;
const commits = "api.github.com/repos/owner/act/commits/v1.0.0";

describe("an action", () => {
  test("is right when its tag is the commit", async () => {
    upstream.routes.set(commits, ({ headers }) =>
      headers.accept === "application/vnd.github.sha" && headers.authorization === "Bearer t"
        ? { body: action.commit }
        : { status: 400 },
    );
    expect(await verdict(action, { githubToken: "t" })).toBe("right");
  });

  test("is wrong when its tag is another commit, or is not there", async () => {
    upstream.routes.set(commits, { body: "d".repeat(40) });
    expect(await verdict(action)).toBe(
      `wrong v1.0.0 of owner/act is commit ${"d".repeat(40)}, the workflow says ${action.commit}`,
    );
    expect(await verdict({ ...action, tag: "v9.9.9" })).toBe("wrong owner/act has no tag v9.9.9 (status 404)");
  });

  test("is unanswered when GitHub has had enough of us", async () => {
    upstream.routes.set(commits, { status: 403 });
    expect(await verdict(action)).toMatch(/^unanswered .*set GITHUB_TOKEN$/);
  });
});

describe("a Kubernetes version", () => {
  const kubernetes = (version: string) => ({ kind: "kubernetes", version }) as const;

  test("is right while EKS supports it, and wrong before and after", async () => {
    upstream.routes.set("endoflife.date/api/amazon-eks.json", {
      body: [
        { cycle: "1.36", eol: "2027-08-02" },
        { cycle: "1.34", eol: today },
        { cycle: "1.33", eol: "2026-07-29" },
      ],
    });
    expect(await verdict(kubernetes("1.36"))).toBe("right");
    expect(await verdict(kubernetes("1.34"))).toBe("right");
    expect(await verdict(kubernetes("1.33"))).toContain(
      "wrong Kubernetes 1.33 left EKS's standard support on 2026-07-29",
    );
    expect(await verdict({ ...kubernetes("1.36"), supportEnds: "2027-08-02" })).toBe("right");
    expect(await verdict({ ...kubernetes("1.36"), supportEnds: "2027-08-03" })).toMatch(
      /^wrong EKS supports Kubernetes 1\.36 to 2027-08-02 .*, the project says 2027-08-03$/,
    );
    expect(await verdict(kubernetes("1.37"))).toBe("wrong EKS has no Kubernetes 1.37; it has 1.36, 1.34, 1.33");
  });

  test("is missed from the 31st day after its release on EKS, unless it is older than all that are offered", async () => {
    upstream.routes.set("endoflife.date/api/amazon-eks.json", {
      body: [
        { cycle: "1.38", releaseDate: "2026-10-23", eol: "2027-12-01" },
        { cycle: "1.37", releaseDate: "2026-10-01", eol: "2027-12-01" },
        { cycle: "1.36", releaseDate: "2026-06-02", eol: "2027-08-02" },
        { cycle: "1.35", releaseDate: "2026-01-27", eol: "2026-11-21" },
        { cycle: "1.34", releaseDate: "2025-10-06", eol: "2026-12-02" },
      ],
    });
    const offer = (...versions: string[]) => ({ kind: "offer", versions }) as const;
    expect(await verdict(offer("1.35", "1.36", "1.37"))).toBe("right");
    expect(await verdict(offer("1.34", "1.36", "1.37"))).toBe("right");
    expect(await verdict(offer("1.35", "1.36"))).toBe(
      "wrong EKS supports Kubernetes 1.37 (since 2026-10-01), the project only 1.35, 1.36 (https://endoflife.date/api/amazon-eks.json): add it here and to the Composition",
    );
    expect(await verdict(offer("1.36", "1.37"), { today: "2026-11-23" })).toContain(
      "wrong EKS supports Kubernetes 1.38",
    );
  });
});

describe("a version of an add-on", () => {
  const addon = { kind: "addon", name: "vpc-cni", version: "v1.2.3-eksbuild.1", kubernetesVersion: "1.36" } as const;
  const eks = () =>
    new EKSClient({
      region: "eu-central-1",
      endpoint: `${upstream.address}/eks`,
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      maxAttempts: 1,
    });
  const versions = "eks/addons/supported-versions?addonName=vpc-cni&kubernetesVersion=1.36";

  test("is asked of EKS with somebody's credentials, and else named as not asked", async () => {
    upstream.routes.set(versions, { body: { addons: [{ addonVersions: [{ addonVersion: addon.version }] }] } });
    expect(await verdict(addon, { eks: eks() })).toBe("right");
    expect(await verdict({ ...addon, version: "v0" }, { eks: eks() })).toBe(
      "wrong EKS has no v0 of vpc-cni for Kubernetes 1.36; it has v1.2.3-eksbuild.1",
    );
    expect(await verdict(addon)).toMatch(/^skipped .*--aws$/);
  });

  test("is unanswered when EKS refuses the caller", async () => {
    upstream.routes.set(versions, { status: 403, body: { message: "not you" } });
    expect(await verdict(addon, { eks: eks() })).toMatch(/^unanswered eks:DescribeAddonVersions: /);
  });
});

describe("a server that gives no answer", () => {
  test("is asked again, and then says nothing about the reference", async () => {
    upstream.routes.set(manifests, { status: 503 });
    expect(await verdict(image)).toBe("unanswered https://registry.example/v2/team/app/manifests/v1: status 503");
    expect(upstream.asked).toHaveLength(3);
  });

  test("may answer a later try", async () => {
    let tries = 0;
    upstream.routes.set(manifests, () => (++tries < 3 ? { status: 500 } : platforms("amd64", "arm64")));
    expect(await verdict(image)).toBe("right");
  });

  test("may not even be there", async () => {
    const nobody = { fetch: () => Promise.reject(new Error("fetch failed", { cause: new Error("ENOTFOUND") })) };
    expect(await verdict(image, nobody)).toContain("unanswered");
    expect(await verdict(chart, nobody)).toContain("fetch failed: ENOTFOUND");
  });
});

describe("the report", () => {
  const of = (...states: Outcome["state"][]): Outcome[] =>
    states.map((state) => ({
      reference: { ...image, origins: ["a.yaml:1", "b.yaml:2"] },
      state,
      ...(state === "right" ? {} : { message: `because ${state}` }),
    }));

  test("names what is wrong with every place to fix", () => {
    const text = report(of("right", "wrong", "skipped"), ["c.yaml:3: nothing decides it"]);
    expect(text).toContain("1 of 3 external references are right.");
    expect(text).toMatch(
      /## Wrong.*\n\n- image registry\.example\/team\/app:v1: because wrong\n {2}- a\.yaml:1\n {2}- b\.yaml:2\n/,
    );
    expect(text).toContain("- c.yaml:3: nothing decides it");
    expect(text).not.toContain("Unanswered");
  });

  test("tells a wrong reference from a server that gave no answer by the exit code", () => {
    expect(exitCode(of("right", "skipped"))).toBe(0);
    expect(exitCode(of("right", "unanswered"))).toBe(2);
    expect(exitCode(of("unanswered", "wrong"))).toBe(1);
  });
});
