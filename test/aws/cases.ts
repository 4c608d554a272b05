import type { Tags } from "../../lib/labels.ts";

/** Cases that only AWS can show. FLEET_AWS_CASES selects them: each needs something of the account, takes time, or costs money. */
export const caseNames = [
  ...["access", "guardduty", "load-balancers", "role-path", "rollback", "secrets"],
  ...["service-cidr", "sessions", "tags", "volume-key"],
] as const;

export type CaseName = (typeof caseNames)[number];

/** The selected cases: names with commas between them, or `all`. */
export const casesOf = (text: string | undefined): readonly CaseName[] =>
  text === "all" ? caseNames : caseNames.filter((name) => (text ?? "").split(",").includes(name));

/** A company's tags on everything of the spoke. */
export const companyTags: Tags = { "cost-center": "fleet-proof" };

/** Addresses of the spoke's Services; EKS's own choice is 10.100.0.0/16 or 172.20.0.0/16. */
export const serviceCidr = "172.21.0.0/16";

interface SpokeSpec {
  readonly addons?: readonly string[];
  readonly network?: object;
}

/** The specification of the spoke with what the selected cases need. @param volumeKey the first of the stack's `volumeKeys` */
export const withCases = (spec: SpokeSpec, cases: readonly CaseName[], volumeKey?: string): SpokeSpec => ({
  ...spec,
  ...((cases.includes("tags") || cases.includes("load-balancers")) && { tags: companyTags }),
  ...(cases.includes("sessions") && { sessionManager: true }),
  ...(cases.includes("volume-key") && volumeKey !== undefined && { volumeKey }),
  ...(cases.includes("load-balancers") && { addons: [...(spec.addons ?? []), "aws_load_balancer_controller"] }),
  ...(cases.includes("service-cidr") && { network: { ...spec.network, serviceIpv4Cidr: serviceCidr } }),
});
