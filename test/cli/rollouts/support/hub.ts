import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "../../../../functions/spoke/kube.ts";

const token = "token-of-the-test";
/** Objects in one answer, fewer than are asked for. */
const PAGE = 2;

interface Told extends KubeObject {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly involvedObject: Readonly<Record<string, string>>;
}

const condition = (type: string, status: string) => ({ conditions: [{ type, status }] });

/** What every hub has: what it follows, and Crossplane, which runs. */
const hubObjects = (fleet: string): KubeObject[] => [
  {
    ...{ apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization" },
    metadata: { name: "hub", namespace: "flux-system" },
    spec: { path: `./clusters/${fleet}` },
  },
  {
    ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository" },
    metadata: { name: "gitops-system", namespace: "flux-system" },
    spec: { ref: { branch: "main" } },
  },
  {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "crossplane", namespace: "crossplane-system" } },
    status: condition("Available", "True"),
  },
  {
    ...{ apiVersion: "pkg.crossplane.io/v1", kind: "Function", metadata: { name: "function-spoke" } },
    status: condition("Healthy", "True"),
  },
];

/** An API server that knows what fleet rollouts asks a hub for, with a kubeconfig that leads to it. */
export class FakeHub {
  readonly objects: KubeObject[] = hubObjects("fleet");
  readonly events: Told[] = [];
  /** What was asked for, such as `list fleet.internal/spokes in spokes`. */
  readonly asked = new Set<string>();
  /** Kinds, in the plural, that the token may not list, get or create. */
  readonly forbidden = new Set<string>();
  readonly #folder = mkdtempSync(join(tmpdir(), "fleet-fake-hub-"));
  readonly kubeconfig = join(this.#folder, "kubeconfig");
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo;
    const cluster = { name: "hub", cluster: { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } };
    const config = {
      ...{ apiVersion: "v1", kind: "Config", clusters: [cluster], users: [{ name: "me", user: { token } }] },
      ...{ contexts: [{ name: "hub", context: { cluster: "hub", user: "me" } }], "current-context": "hub" },
    };
    writeFileSync(this.kubeconfig, JSON.stringify(config));
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  /** Adds an object, or replaces it. */
  put(object: KubeObject): void {
    const index = this.objects.findIndex(
      ({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name,
    );
    if (index < 0) this.objects.push(object);
    else this.objects[index] = object;
  }

  /** Changes an object that there is. */
  change(kind: string, name: string, change: Partial<KubeObject>): void {
    const found = this.objects.find((each) => each.kind === kind && each.metadata.name === name);
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    this.put({ ...found, ...change });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://hub");
    const end = (code: number, body: object) => {
      response.writeHead(code, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const status = (code: number, message: string) => end(code, { kind: "Status", code, message });
    const [, path = "", group = "", namespace, plural = "", name = ""] =
      /^(\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+))?\/([^/]+))(?:\/([^/]+))?$/.exec(pathname) ?? [];
    const verb = request.method === "POST" ? "create" : name === "" ? "list" : "get";
    this.asked.add([verb, `${group}/${plural}`, name, ...(namespace === undefined ? [] : ["in", namespace])].join(" "));
    if (request.headers.authorization !== `Bearer ${token}`) status(401, "Unauthorized");
    else if (this.forbidden.has(plural)) status(403, `${plural} is forbidden: User "job" cannot do that`);
    else if (verb === "create") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const event = JSON.parse(Buffer.concat(chunks).toString()) as Told;
      const isKnown = this.events.some(({ metadata }) => metadata.name === event.metadata.name);
      if (isKnown) return status(409, "already exists");
      this.events.push(event);
      end(201, event);
    } else if (verb === "get") {
      const found = this.#list(path, "").find(({ metadata }) => metadata.name === name);
      if (found === undefined) status(404, `${plural} "${name}" not found`);
      else end(200, found);
    } else {
      const start = Number(searchParams.get("continue") ?? 0);
      const all = this.#list(path, searchParams.get("labelSelector") ?? "");
      const size = Math.min(PAGE, Number(searchParams.get("limit")));
      const rest = start + size < all.length ? { continue: String(start + size) } : {};
      end(200, { items: all.slice(start, start + size), metadata: rest });
    }
  }

  #list(path: string, selector: string): KubeObject[] {
    const [, key = "", names] = /^([^ ]+)(?: in \((.*)\))?$/.exec(selector) ?? [];
    return this.objects.filter(({ apiVersion, kind, metadata: { namespace, labels } }) => {
      const folder = namespace === undefined ? "" : `namespaces/${namespace}/`;
      const plural = kind.replace(/y$/, "ie").toLowerCase();
      const value = labels?.[key];
      const isSelected =
        key === "" || (value !== undefined && (names === undefined || names.split(", ").includes(value)));
      const base = apiVersion === "v1" ? "/api" : "/apis";
      return path === `${base}/${apiVersion}/${folder}${plural}s` && isSelected;
    });
  }
}
