import {
  advanceClock,
  cutOff,
  expireCertificates,
  fillEtcd,
  freezeNodes,
  freezeSupervised,
} from "../e2e/support/faults.ts";
import { HUB, killPods, killSupervised } from "../e2e/support/hub.ts";
import { clusterOf } from "../e2e/support/spokes.ts";

/** Something that goes wrong while a spoke is worked on. */
export interface Fault {
  /** What is hit and how, as the table says it. */
  readonly name: string;
  /** Whether it hits the spoke's own cluster, which has to be there: a drill of its creation waits for it. */
  readonly ofSpoke?: true;
  /** Brings it about, and resolves when what was frozen or cut goes on. What was killed is started again by who keeps it. */
  readonly strike: (spoke: string) => Promise<void>;
}

/**
 * Seconds for which a process or a link is away: longer than the clients' own timeouts of 10 to 30 seconds. Shorter than the 50 after which
 * a node counts as lost (--node-monitor-grace-period) less the 10 from one of its signs of life to the next: etcd also serves the spoke that
 * nothing may happen to.
 */
const AWAY_SECONDS = 35;

const killed = (what: string, ...ids: readonly string[]): Fault => ({
  name: `${what} killed`,
  strike: async () => {
    for (const id of ids) await killSupervised(id);
  },
});

const frozen = (what: string, id: string): Fault => ({
  name: `${what} frozen for ${AWAY_SECONDS} s`,
  strike: () => freezeSupervised(id, AWAY_SECONDS),
});

/** Pods of the hub. */
const killedPods = (what: string, ...names: readonly string[]): Fault => ({
  name: `${what} killed`,
  strike: async () => {
    for (const name of names) await killPods(name);
  },
});

const fluxPods = ["source-controller", "kustomize-controller", "helm-controller"];

/** Without any, the time that a phase takes by itself. */
export const nothing: Fault = { name: "nothing", strike: async () => {} };

/** By what they hit: what all clusters share, the hub, the spoke. */
export const faults: readonly Fault[] = [
  nothing,
  killed("Git server", "git"),
  frozen("Git server", "git"),
  killed("AWS API", "gateway"),
  frozen("AWS API", "gateway"),
  {
    name: `AWS's clock two hours ahead for ${AWAY_SECONDS} s: signatures, sessions and tokens expired`,
    strike: () => advanceClock(AWAY_SECONDS),
  },
  {
    name: `certificates of AWS's API expired for ${AWAY_SECONDS} s`,
    strike: () => expireCertificates(AWAY_SECONDS),
  },
  killed("etcd of all clusters", "etcd"),
  frozen("etcd of all clusters", "etcd"),
  { name: `etcd of all clusters full for ${AWAY_SECONDS} s`, strike: () => fillEtcd(AWAY_SECONDS) },
  killed("hub's API server", `${HUB}.kube-apiserver`),
  frozen("hub's API server", `${HUB}.kube-apiserver`),
  killed("hub's controller manager and scheduler", `${HUB}.kube-controller-manager`, `${HUB}.kube-scheduler`),
  killedPods("hub's Flux", ...fluxPods, "source-watcher", "notification-controller"),
  killedPods("hub's Crossplane", "crossplane-"),
  killedPods("composition function", "function-spoke"),
  killedPods("hub's AWS providers", "provider-aws"),
  killedPods("hub's External Secrets", "external-secrets"),
  { name: `hub's nodes frozen for ${AWAY_SECONDS} s`, strike: () => freezeNodes(HUB, AWAY_SECONDS) },
  {
    name: "spoke's API server killed",
    ofSpoke: true,
    strike: (spoke) => killSupervised(`${clusterOf(spoke)}.kube-apiserver`),
  },
  {
    name: `spoke's API server frozen for ${AWAY_SECONDS} s`,
    ofSpoke: true,
    strike: (spoke) => freezeSupervised(`${clusterOf(spoke)}.kube-apiserver`, AWAY_SECONDS),
  },
  {
    name: `spoke's nodes frozen for ${AWAY_SECONDS} s`,
    ofSpoke: true,
    strike: (spoke) => freezeNodes(clusterOf(spoke), AWAY_SECONDS),
  },
  {
    name: `network from the hub to the spoke's API server cut for ${AWAY_SECONDS} s`,
    ofSpoke: true,
    strike: (spoke) => cutOff(HUB, clusterOf(spoke), AWAY_SECONDS),
  },
];
