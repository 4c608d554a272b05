/** Why a Spoke is not taken as it is: a reason for machines, and what a person can do about it. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}
