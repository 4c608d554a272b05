/** Why a Spoke's specification is not accepted: the reason of the condition, and a message with what a person can do about it. */
export interface SpokeProblem {
  readonly reason: string;
  readonly message: string;
}
