import { AsyncLocalStorage } from "node:async_hooks";

/** What a caller of a handler can set for one call, without every function in between passing it on. */
export interface CallSettings {
  /** Ends waits when it is aborted. */
  readonly signal?: AbortSignal;
  /** Milliseconds that a wait may take, in place of the clients' default. */
  readonly timeout?: number;
  /**
   * Receives the id of a new resource as soon as AWS has assigned it, before the resource is usable, or the new id that a change
   * has given to an existing one.
   */
  made?(id: string): Promise<void>;
}

const current = new AsyncLocalStorage<CallSettings>();

/** Calls `run` with these settings; what they leave out stays as an enclosing call has set it. */
export function withCallSettings<T>(settings: CallSettings, run: () => Promise<T>): Promise<T> {
  return current.run({ ...current.getStore(), ...settings }, run);
}

export function callSettings(): CallSettings {
  return current.getStore() ?? {};
}
