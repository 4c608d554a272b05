import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACCOUNT, REGION } from "../../gateway/ministack.ts";
import { pullerPolicies } from "../../product.ts";
import { ensureToolchain, type Toolchain } from "../../toolchain/index.ts";
import { allow, type Clients, cloud, useGatewayCloud } from "../support/gateway.ts";
import { signedCalls } from "../support/signed-call.ts";

const host = `${ACCOUNT}.dkr.ecr.${REGION}.amazonaws.com`;
const chart = "mirror/charts/flux2";
const other = "mirror/ghcr.io/fluxcd/flux-cli";
const blob = "a chart";
const digest = `sha256:${createHash("sha256").update(blob).digest("hex")}`;
const manifest = JSON.stringify({ schemaVersion: 2, config: { digest }, layers: [] });
const types = { "content-type": "application/vnd.oci.image.manifest.v1+json" };

let puller: Clients;
useGatewayCloud(async () => {
  for (const repositoryName of [chart, other]) await ecr(cloud.deployer, "CreateRepository", { repositoryName });
  const [[, policy] = []] = pullerPolicies({ chartsRegistry: `oci://${host}/mirror/charts`, packagesRegistry: "" });
  puller = await cloud.roleWith("source-controller", policy as object);
});

const ecr = async (by: Clients, action: string, body: object) => {
  const call = signedCalls(cloud, `api.ecr.${REGION}.amazonaws.com`, { service: "ecr", region: REGION });
  const headers = {
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": `AmazonEC2ContainerRegistry_V20150921.${action}`,
  };
  const { status, text } = await call(by, { method: "POST", path: "/", headers, body: JSON.stringify(body) });
  return { status, body: JSON.parse(text) as Record<string, never> };
};

/** Why a call of the API is denied. */
const refusal = async (...call: Parameters<typeof ecr>): Promise<string> => {
  const { status, body } = await ecr(...call);
  return status < 400 ? "allowed" : String(body["message"] ?? body["Message"]);
};

/** The header for Basic authentication with the password that a principal gets. */
async function login(by: Clients): Promise<string> {
  const { body } = await ecr(by, "GetAuthorizationToken", {});
  const [{ authorizationToken }] = body["authorizationData"] as unknown as [{ authorizationToken: string }];
  return `Basic ${authorizationToken}`;
}

const registry = (authorization: string, method: string, path: string, body = "", of = host) =>
  signedCalls(cloud, of, { service: "ecr", region: REGION })(undefined, {
    method,
    path: `/v2/${path}`,
    body,
    headers: { ...types, "content-length": String(Buffer.byteLength(body)), ...(authorization && { authorization }) },
  });
const statusOf = async (...call: Parameters<typeof registry>) => (await registry(...call)).status;
const codeOf = async (...call: Parameters<typeof registry>) => {
  const { status, text } = await registry(...call);
  return [status, JSON.parse(text).errors[0].code, JSON.parse(text).errors[0].message];
};

describe("the registry of Amazon ECR", () => {
  test("rejects requests without a password, and with another one", async () => {
    const invented = `Basic ${Buffer.from("AWS:ministack-auth-token").toString("base64")}`;
    for (const authorization of ["", invented, "Basic x", (await login(cloud.deployer)).slice(0, -8)])
      for (const path of ["", `${chart}/manifests/2.19.0`])
        expect(await codeOf(authorization, "GET", path)).toEqual([401, "UNAUTHORIZED", "Not Authorized"]);
  });

  test("gives a password to principals that may have one", async () => {
    const without = await cloud.roleWith("without-login", allow({ Action: "ecr:BatchGetImage" }));
    expect(await refusal(without, "GetAuthorizationToken", {})).toContain("ecr:GetAuthorizationToken");
    expect(await statusOf(await login(puller), "GET", "")).toBe(200);
  });

  test("takes images into repositories that exist", async () => {
    const password = await login(cloud.deployer);
    for (const repository of [chart, other]) {
      expect(await statusOf(password, "POST", `${repository}/blobs/uploads/?digest=${digest}`, blob)).toBe(201);
      expect(await statusOf(password, "PUT", `${repository}/manifests/2.19.0`, manifest)).toBe(201);
    }
    const [status, code] = await codeOf(password, "POST", `mirror/new/blobs/uploads/?digest=${digest}`, blob);
    expect([status, code]).toEqual([404, "NAME_UNKNOWN"]);
  });

  test("lets the role of source-controller pull the charts, and do nothing else", async () => {
    const password = await login(puller);
    expect(await registry(password, "GET", `${chart}/manifests/2.19.0`)).toMatchObject({ status: 200, text: manifest });
    expect(await registry(password, "GET", `${chart}/blobs/${digest}`)).toMatchObject({ status: 200, text: blob });
    const refusals = [
      ["ecr:BatchGetImage", other, "GET", `${other}/manifests/2.19.0`],
      ["ecr:GetDownloadUrlForLayer", other, "GET", `${other}/blobs/${digest}`],
      ["ecr:ListImages", chart, "GET", `${chart}/tags/list`],
      ["ecr:PutImage", chart, "PUT", `${chart}/manifests/2.19.0`],
      ["ecr:InitiateLayerUpload", chart, "POST", `${chart}/blobs/uploads/`],
    ] as const;
    for (const [action, repository, method, path] of refusals) {
      const [status, code, message] = await codeOf(password, method, path, method === "PUT" ? manifest : "");
      expect([status, code], action).toEqual([403, "DENIED"]);
      expect(message).toContain(
        `is not authorized to perform: ${action} on resource: arn:aws:ecr:${REGION}:${ACCOUNT}:repository/${repository}`,
      );
    }
    const made = { repositoryName: "mirror/charts/new" };
    expect(await refusal(puller, "CreateRepository", made)).toContain("ecr:CreateRepository");
  });

  test("removes nothing", async () => {
    const [status, code] = await codeOf(await login(cloud.deployer), "DELETE", `${chart}/manifests/2.19.0`);
    expect([status, code]).toEqual([405, "UNSUPPORTED"]);
  });

  test("takes a password in its region only", async () => {
    const abroad = `${ACCOUNT}.dkr.ecr.eu-west-1.amazonaws.com`;
    expect(await statusOf(await login(cloud.deployer), "GET", "", "", abroad)).toBe(401);
  });

  test("has nothing of another account", async () => {
    const foreign = await cloud.account("222222222222");
    const [status, code] = await codeOf(await login(foreign), "GET", `${chart}/manifests/2.19.0`);
    expect([status, code]).toEqual([403, "DENIED"]);
  });
});

describe("helm, with the login of a principal", () => {
  let folder: string;
  let toolchain: Toolchain;
  const proxy = createServer();
  beforeAll(async () => {
    toolchain = await ensureToolchain();
    folder = await mkdtemp(join(tmpdir(), "fleet-helm-"));
    // AWS's names lead to the gateway in clusters only.
    proxy.on("connect", (_request, client) => {
      const server = connect(443, cloud.instance.gatewayAddress, () => {
        client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        server.pipe(client).pipe(server);
      });
      for (const socket of [server, client]) socket.on("error", () => void [server.destroy(), client.destroy()]);
    });
    await once(proxy.listen(0, "127.0.0.1"), "listening");
  });
  afterAll(async () => {
    proxy.close();
    await rm(folder, { recursive: true });
  });

  const helm = async (by: Clients, ...args: string[]) => {
    const config = join(folder, "registry.json");
    const auth = (await login(by)).replace("Basic ", "");
    await writeFile(config, JSON.stringify({ auths: { [host]: { auth } } }));
    const { port } = proxy.address() as AddressInfo;
    const env = {
      HOME: folder,
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
      SSL_CERT_FILE: cloud.instance.paths.caCertificate,
      HELM_REGISTRY_CONFIG: config,
    };
    return promisify(execFile)(toolchain.bin("helm"), args, { cwd: folder, env });
  };

  test("pushes a chart to its repository, and pulls what the role of source-controller may", async () => {
    const { charts } = toolchain;
    const archive = (await readdir(charts)).find((name) => name.startsWith("flux2-")) as string;
    const version = archive.replace(/^flux2-(.+)\.tgz$/, "$1");
    const mirror = `oci://${host}/mirror/charts`;
    await helm(cloud.deployer, "push", join(charts, archive), mirror);
    await helm(puller, "pull", `${mirror}/flux2`, "--version", version);
    expect(await readdir(folder)).toContain(archive);
    await expect(helm(puller, "push", join(charts, archive), mirror)).rejects.toThrow("403");
    await expect(helm(puller, "pull", `oci://${host}/${other}`, "--version", "2.19.0")).rejects.toThrow("403");
    const missing = helm(cloud.deployer, "push", join(charts, archive), `oci://${host}/mirror/new`);
    await expect(missing).rejects.toThrow("404");
  });
});
