/**
 * What components were called in earlier releases. With these aliases Pulumi takes those of an existing stack over, and what is
 * below them, instead of making them again.
 */
export const formerly = {
  rootGuard: [{ name: "spoke-guard", type: "eks-gitops-fleet:index:SpokeGuard" }],
  remainingSpokesGuard: [{ name: "spoke-roll", type: "eks-gitops-fleet:index:SpokeRoll" }],
};
