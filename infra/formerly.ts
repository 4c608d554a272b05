/**
 * Names of components in earlier releases. With these aliases Pulumi keeps the components of an existing stack, and their
 * children, instead of making them again.
 */
export const formerly = {
  rootGuard: [{ name: "spoke-guard", type: "eks-gitops-fleet:index:SpokeGuard" }],
  remainingSpokesGuard: [{ name: "spoke-roll", type: "eks-gitops-fleet:index:SpokeRoll" }],
};
