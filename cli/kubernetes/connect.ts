import type { Fleet } from "./fleet.ts";

/** Connects to the hub of a context of the kubeconfig, by default of the current one. */
export type Connect = (context: string | undefined) => Promise<Fleet>;

// The Kubernetes client takes half a second to load, which other commands need not wait for.
export const connect: Connect = async (context) => (await import("./fleet.ts")).connect(context);
