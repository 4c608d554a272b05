import { type BoundaryPlace, boundaryDocuments, withDenials } from "../lib/iam/company-denials.ts";
import { noPath, policyLimits, policyText } from "../lib/iam/policy.ts";
import type { Problem } from "../lib/problems.ts";
import { longestScope, permittedIn } from "./addon-rules.ts";
import type { Readable } from "./settings.ts";

const key = "boundaryStatements";

/** Whether every boundary of an account has room for the company's statements. */
export const denialLengthRules = (place: BoundaryPlace, denials: Readable["boundaryStatements"] = []): Problem[] =>
  denials.length === 0
    ? []
    : Object.entries(boundaryDocuments(place)).flatMap(([name, document]) => {
        const { length } = policyText(withDenials(document, denials));
        return length <= policyLimits.managed
          ? []
          : [
              {
                key,
                what: `makes the permissions boundary ${name} too long for IAM`,
                got: `${length} characters`,
                allowed: `at most ${policyLimits.managed} characters without white space`,
                remedy: `shorten the statements by ${length - policyLimits.managed} characters, or move some into a service control policy`,
              },
            ];
      });

/** A company that limits the roles of spokes limits those of the stack too. @param name key of the stack that has the boundary of the hub's roles */
export const ownBoundaryRule = (
  { boundaryStatements = [], permissionsBoundary }: Pick<Readable, "boundaryStatements" | "permissionsBoundary">,
  name = "permissionsBoundary",
): Problem[] =>
  boundaryStatements.length === 0 || permissionsBoundary !== ""
    ? []
    : [
        {
          key: name,
          what: "is empty although boundaryStatements limit the roles of spokes: the roles that the stack makes would have no boundary",
          got: "(empty)",
          allowed: "the ARN of the company's boundary",
          remedy: `pulumi config set ${name} arn:aws:iam::<account>:policy/<name>`,
        },
      ];

/** The hub's account, with the longest names. */
export function boundaryRules(settings: Readable): Problem[] {
  const { boundaryStatements, fleet, spokeRegions = [], rolePath = noPath, volumeKeys = [] } = settings;
  if (fleet === undefined) return [];
  const scope = { ...longestScope, rolePath, otherRegions: spokeRegions };
  return [
    ...ownBoundaryRule(settings),
    ...denialLengthRules({ fleet, scope, volumeKeys, addonPermissions: permittedIn(settings) }, boundaryStatements),
  ];
}
