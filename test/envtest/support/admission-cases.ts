import { fleets, gitSources, placements, tenantSources } from "./admission-places.ts";
import type { AdmissionCase, Cases } from "./admission-request.ts";
import { clusterSecrets, gitCredentials } from "./admission-secrets.ts";

const of = (policy: string, cases: Cases): AdmissionCase[] =>
  cases.map((each) => ({ ...each, policy: `${policy}.fleet.internal` }));

/** At least one request that each validation of each policy refuses, and its twin that is let through. */
export const admissionCases: readonly AdmissionCase[] = [
  ...of("cluster-secret", clusterSecrets),
  ...of("git-credential", gitCredentials),
  ...of("git-source", gitSources),
  ...of("spoke-fleet", fleets),
  ...of("spoke-placement", placements),
  ...of("tenant-source", tenantSources),
];
