/** The commands of the local stack, for what drives it from outside: end-to-end tests and benchmarks. */
export { prepareAddons } from "./addons.ts";
export { profileOf, rootAws } from "./aws.ts";
export type { Choices } from "./choices.ts";
export { alone, main } from "./command.ts";
export { appQuestion, demo, deployerArn, machineCidr } from "./demo.ts";
export { doorsOf } from "./doors.ts";
export { factsOf } from "./facts.ts";
export type { LocalFleet } from "./fleet.ts";
export type { Kubectl } from "./flux.ts";
export { appGit } from "./git-method.ts";
export { withTemporaryInstance } from "./interruptible.ts";
export { cloudEnvironment, sshOf } from "./pulumi.ts";
export { raiseQuotas } from "./quotas.ts";
export type { Timings } from "./steps.ts";
export { GO_ENVIRONMENT } from "./test-tools.ts";
export { bringUp, bringUpForPreview } from "./up.ts";
