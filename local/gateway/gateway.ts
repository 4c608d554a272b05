import { constants } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { callbackify } from "node:util";
import { clusterIdOf, type Instance, parseClusterId } from "../instance/index.ts";
import { awsApi } from "./api.ts";
import type { Workspaces } from "./aps/runtime.ts";
import { startAps } from "./aps/service.ts";
import { accountsOfKeys } from "./aws/account-of-key.ts";
import { pathOf } from "./aws/credential-scope.ts";
import { forwardTo } from "./aws/forward.ts";
import { changesInstances } from "./aws/instance-changes.ts";
import { awsLookups } from "./aws/lookups.ts";
import { backgroundWork } from "./background.ts";
import { byAccount } from "./by-account.ts";
import { ensureInstanceCa } from "./ca.ts";
import { CHARTS_HOST, serveChart } from "./charts.ts";
import { accountContext, accountWork } from "./eks/account-context.ts";
import { changesReach } from "./eks/endpoint-access.ts";
import type { EksContext } from "./eks/operation.ts";
import { reconciler } from "./eks/reconcile/cluster.ts";
import { endpointKeeper } from "./eks/reconcile/endpoints.ts";
import type { Clusters } from "./eks/runtime.ts";
import { selfManagedNodes } from "./eks/self-managed-nodes.ts";
import { type InstanceStore, openStore } from "./eks/store.ts";
import { changesBalancers } from "./elb/changes.ts";
import type { balancing } from "./elb/service.ts";
import { faultsFile, faultsIn } from "./faults/faults.ts";
import { firsts, HOLD_SECONDS } from "./faults/hold.ts";
import { throttle } from "./faults/throttle.ts";
import type { Grafana } from "./grafana/service.ts";
import { ensureGatewayKey, rootCredentials } from "./key.ts";
import { type Handler, type Log, listen, listener, listenOnSocket } from "./listeners.ts";
import { ACCOUNT, ministackEndpoint, PARTITION, REGION } from "./ministack.ts";
import { nodeMetadata } from "./node-metadata.ts";
import { oidcIssuers } from "./oidc.ts";
import { serviceSessions } from "./sts/service-session.ts";
import { apiServerWebhooks } from "./webhooks/handlers.ts";

/** Ports: those of AWS on the gateway address, those of webhooks on the loopback address. */
export const PORTS = { api: 4566, tls: 443, internal: 9443, webhook: 9444 } as const;

export interface GatewayOptions {
  readonly instance: Instance;
  readonly clusters: Clusters;
  readonly workspaces: Workspaces;
  /** Folder of the chart repository. */
  charts(): Promise<string>;
  readonly log: Log;
}

/** The URL of the token webhook of a cluster. */
export function tokenWebhookUrl(instance: Pick<Instance, "loopbackAddress">, cluster: string): string {
  return `http://${instance.loopbackAddress}:${PORTS.internal}/authenticate/${cluster}`;
}

/** Starts the gateway of an instance; resolves when it listens. */
export async function startGateway(options: GatewayOptions): Promise<{ close(): Promise<void> }> {
  const { instance, clusters, log } = options;
  const ca = await ensureInstanceCa(instance);
  const key = await ensureGatewayKey(instance);
  const store = await openStore(instance.paths.eks);
  const forward = forwardTo(ministackEndpoint(instance));
  const place = { region: REGION, account: ACCOUNT, partition: PARTITION };
  const faults = faultsIn(faultsFile(instance));
  const awsTime = async () => new Date(Date.now() + (await faults()).clockAheadSeconds * 1000);
  const endpoint = ministackEndpoint(instance);
  const lookups = byAccount((account) =>
    awsLookups({
      endpoint,
      ...place,
      account,
      credentials: rootCredentials(key, account),
      newRolesUnknownSeconds: async () => (await faults()).newRolesUnknownSeconds,
    }),
  );
  const aws = lookups(ACCOUNT);
  // Of all accounts: clusters have the names that the instance gives them.
  const eks: EksContext & { readonly store: InstanceStore } = {
    ...place,
    store,
    clusters,
    aws,
    awsOf: lookups,
    now: () => Math.floor(Date.now() / 1000),
    wake: (name) => {
      // After the caller has answered.
      setImmediate(() => work.add(name));
      // Its settings or its nodes may have changed.
      endpoints.add("all");
    },
  };
  const { workspaces } = options;
  const aps = await startAps({ ...place, folder: instance.paths.aps, workspaces, aws, now: eks.now, log });
  // Hardly any instance has one: loaded by the first call, which also continues what a killed gateway left half done.
  let grafana: Promise<Grafana> | undefined;
  let balanced: ReturnType<typeof balancing> | undefined;
  const startedGrafana = async () => {
    const { startGrafana } = await import("./grafana/service.ts");
    return startGrafana({ ...place, folder: instance.paths.grafana, aws, now: eks.now, log });
  };
  const eksOf = byAccount((account) => accountContext(eks, account));
  const keepEndpoints = endpointKeeper(eks, ({ cluster }) => {
    const { account } = parseClusterId(clusterIdOf(cluster));
    return eksOf(account);
  });
  const endpoints = backgroundWork("endpoints", log, () => keepEndpoints().then(() => "wait"));
  const reconcilers = byAccount((account) =>
    reconciler(
      accountWork(
        {
          ...eks,
          keepEndpoints,
          kubeletConfig: async () => (await faults()).kubeletConfig,
          nodesTakeVcpus: async () => (await faults()).nodesTakeVcpus,
          log,
          gatewayAddress: instance.gatewayAddress,
          caCertificate: ca.certificate,
          webhookUrl: (cluster) => `https://${instance.loopbackAddress}:${PORTS.webhook}/mutate/${cluster}`,
        },
        account,
      ),
    ),
  );
  const work = backgroundWork("cluster", log, (id) => {
    const { name, account } = parseClusterId(id);
    return reconcilers(account)(name);
  });
  const nodesOf = byAccount((account) => selfManagedNodes(eksOf(account), log));
  const instances = backgroundWork("instances of", log, (account) => nodesOf(account)());
  const lookAtInstances = () => {
    const accounts = store.list().map(({ cluster }) => parseClusterId(clusterIdOf(cluster)).account);
    for (const account of new Set([ACCOUNT, ...accounts])) instances.add(account);
  };
  const balancers = backgroundWork("load balancers of", log, async () => {
    balanced ??= (await import("./elb/service.ts")).balancing(
      instance,
      { endpoint, region: REGION, credentials: rootCredentials(key, ACCOUNT) },
      log,
    );
    return balanced.pass();
  });
  const oidc = oidcIssuers(store, clusters);
  const assume = serviceSessions({ endpoint, region: REGION, key });
  const accountOf = accountsOfKeys({ endpoint, region: REGION, key });
  const exceeds = throttle(Date.now);
  const held = firsts();
  const api: Handler = (request) =>
    awsApi(request, {
      faults,
      awsTime,
      exceeds: (service, now) => {
        const exceeded = exceeds(service, now);
        if (exceeded) log(`throttled a request to ${service}`);
        return exceeded;
      },
      mayAnswer: async (asked, now) => {
        const action = held(asked, now);
        if (action === undefined) return;
        log(`holds the answer to ${action}`);
        await setTimeout(HOLD_SECONDS * 1000, undefined, { ref: false });
      },
      forward: async (forwarded, headers) => {
        const response = await forward(forwarded, headers);
        if (changesReach(forwarded)) endpoints.add("all");
        if (changesBalancers(forwarded)) balancers.add(ACCOUNT);
        if (changesInstances(forwarded)) lookAtInstances();
        return response;
      },
      key,
      accountOf,
      eks: eksOf,
      eksAuth: (account) => ({ ...eksOf(account), keys: oidc.keys, awsTime, assume }),
      aps: aps.context,
      grafana: () => (grafana ??= startedGrafana()),
      issuers: (account) => ({
        provider: (issuer) => lookups(account).oidcProvider(issuer),
        keys: oidc.keys,
        now: awsTime,
      }),
    });
  const gatewayHost = `${instance.gatewayAddress}:${PORTS.api}`;
  const { internal, webhook } = apiServerWebhooks({ store, clusters, forward, gatewayHost, awsTime });

  const tls = {
    ...(await ca.issue(instance.gatewayAddress)),
    // A client that goes on with a session of before looks at no certificate.
    secureOptions: constants.SSL_OP_NO_TICKET,
    SNICallback: callbackify(async (name: string) => ca.contextOf(name, (await faults()).certificatesExpired)),
  };
  const onApi = listener(api, log);
  const overTls = listener(
    (request) => (/^oidc\.eks\./.test(request.headers["host"] ?? "") ? oidc.serve(pathOf(request.url)) : api(request)),
    log,
  );
  const onTls = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = chartPath(message.headers.host ?? "", pathOf(message.url ?? "/"), instance.gatewayAddress);
    if (path !== undefined) await serveChart(await options.charts(), path, response);
    else if ((await faults()).certificatesExpired) message.socket.destroy();
    else overTls(message, response);
  };
  const servers: Server[] = [
    await listen(instance.loopbackAddress, PORTS.internal, listener(internal, log)),
    await listen(
      instance.loopbackAddress,
      PORTS.webhook,
      listener(webhook, log),
      await ca.issue(instance.loopbackAddress),
    ),
    await listen(instance.gatewayAddress, PORTS.api, onApi),
    await listenOnSocket(instance.paths.metadataSocket, listener(nodeMetadata(store, assume), log)),
    await listen(
      instance.gatewayAddress,
      PORTS.tls,
      (message, response) => {
        onTls(message, response).catch((error: unknown) => {
          log(`${message.url ?? ""} (${message.headers.host ?? ""}): ${(error as Error).message}`);
          response.destroy();
        });
      },
      tls,
    ),
  ];
  // Continues what a killed gateway left half done.
  for (const record of store.list()) work.add(clusterIdOf(record.cluster));
  balancers.add(ACCOUNT);
  lookAtInstances();
  return {
    close: async () => {
      await work.stop();
      await endpoints.stop();
      await balancers.stop();
      await instances.stop();
      balanced?.close();
      await aps.stop();
      await (await grafana)?.stop();
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** The path within the chart repository: all of it under its own name, /charts/ under the gateway's address. */
function chartPath(host: string, path: string, gatewayAddress: string): string | undefined {
  const name = host.split(":")[0];
  if (name === CHARTS_HOST) return path;
  return name === gatewayAddress && path.startsWith("/charts/") ? path.slice("/charts".length) : undefined;
}
