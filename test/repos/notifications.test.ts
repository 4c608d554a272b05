import { describe, expect, test } from "vitest";
import { eventKinds } from "../../lib/notifications.ts";
import { offeredIn } from "../support/addon-catalogue.ts";
import { app, render, withAddons } from "./support/spoke.ts";

const examples = { minimal: "dev", production: "prod" } as const;
const isFlux = ({ apiVersion }: { readonly apiVersion: string }) =>
  /^(source|helm|kustomize)\.toolkit\.fluxcd\.io\//.test(apiVersion);

describe.each(Object.entries(examples))("the notifications of a spoke, in the example %s", (name, environment) => {
  const addons = offeredIn(environment);
  const spoke = render(withAddons(name, addons));
  const [alert] = spoke.by("tools").filter(({ kind }) => kind === "Alert");
  const [provider] = spoke
    .by("tools")
    .filter(({ apiVersion, kind }) => kind === "Provider" && apiVersion.startsWith("notification."));

  test("are off until the Spoke enables them", () => {
    const without = render(
      withAddons(
        name,
        addons.filter((addon) => addon !== "notifications"),
      ),
    );
    expect(without.applied.flatMap(({ objects }) => objects).filter(({ kind }) => kind === "Alert")).toEqual([]);
  });

  test("say which fleet and which cluster fail, and go to whom the environment names, with the spoke's own Secret", () => {
    expect(alert).toMatchObject({
      metadata: { namespace: "flux-system" },
      spec: {
        providerRef: { name: provider?.metadata.name },
        eventSeverity: "error",
        eventMetadata: { fleet: spoke.bridge["fleet"], cluster: spoke.bridge["cluster_name"] },
      },
    });
    expect(provider).toMatchObject({
      metadata: { namespace: "flux-system" },
      spec: { type: "slack", secretRef: { name: "notifications" } },
    });
  });

  test("hear everything of Flux that is the platform's on the spoke, and nothing of a tenant's", () => {
    const sources: { kind: string; name: string; namespace?: string }[] = alert?.spec.eventSources;
    const onSpoke = spoke.applied.filter(({ on }) => on === "spoke").flatMap(({ objects }) => objects);
    const ofFlux = onSpoke.filter(isFlux);
    const platforms = ofFlux.filter(({ metadata }) => metadata.namespace === "flux-system");
    expect(ofFlux.filter((object) => !platforms.includes(object)).map(({ metadata }) => metadata.namespace)).toEqual([
      app.app,
      app.app,
    ]);
    // Flux makes a HelmChart of each HelmRelease's chart. Only the hub cuts its sources.
    expect(sources.map(({ kind }) => kind)).toEqual(eventKinds.filter((kind) => kind !== "ArtifactGenerator"));
    const heard = new Set(sources.map(({ kind }) => kind));
    for (const { kind, metadata } of platforms) expect(heard, `${kind} ${metadata.name}`).toContain(kind);
    // Without a namespace the Alert's own.
    for (const { name: which, namespace } of sources) expect([which, namespace]).toEqual(["*", undefined]);
  });
});
