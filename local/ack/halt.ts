/** Why a pass ends before the resource is as it is wanted. */
import type { Next } from "../work-queue.ts";

interface How {
  /** Nothing but another specification helps: the condition ACK.Terminal says so, and no pass follows. */
  readonly isTerminal?: true;
  /** The terminal condition's reason. */
  readonly reason?: string;
  /** When the next pass is. Default: after a pause that grows. */
  readonly next?: Next;
  /** It is not a failure: no condition ACK.Recoverable. */
  readonly isExpected?: true;
  /** The status stays as it is: upstream has none to write then. */
  readonly isSilent?: true;
}

export class Halt extends Error {
  readonly how: How;

  constructor(message: string, how: How = {}) {
    super(message);
    this.how = how;
  }
}

export const terminal = (message: string, reason?: string): Halt =>
  new Halt(message, { isTerminal: true, ...(reason !== undefined && { reason }) });

/** A specification that AWS or the stand-in doesn't take. */
export const notTaken = (field: string, what: string): Halt => terminal(`spec.${field} ${what}`);

/** What upstream's controllers do, and the stand-in doesn't. */
export const notBuilt = (what: string): Halt =>
  terminal(`${what}: the stand-in for ACK's controllers does not do that; upstream's do`);
