import { AsyncLocalStorage } from "node:async_hooks";

/** What a caller of a handler can set for one operation, without every call passing it on. */
export interface Operation {
  /** Ends waits when it is aborted. */
  readonly signal?: AbortSignal;
  /** Milliseconds that a wait may take, in place of the clients' default. */
  readonly timeout?: number;
  /** Hears of the id of a new resource as soon as AWS has given it, before the resource is usable. */
  made?(id: string): Promise<void>;
}

const operations = new AsyncLocalStorage<Operation>();

/** Runs an operation; settings of an operation around it stay where it sets none. */
export function withOperation<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
  return operations.run({ ...operations.getStore(), ...operation }, run);
}

export function currentOperation(): Operation {
  return operations.getStore() ?? {};
}
