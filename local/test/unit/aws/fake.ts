/** Clients that answer from a table and remember what was asked. */
import type { Aws } from "../../../aws/index.ts";

type Answer = (input: Record<string, unknown>) => unknown;

export interface Fake {
  readonly aws: Aws;
  /** `Operation` and its input, in order. */
  readonly calls: [operation: string, input: Record<string, unknown>][];
  /** Names of the operations, in order. */
  operations(): string[];
}

/** An error as the SDK throws it. */
export function awsError(code: string, message = code): Error {
  return Object.assign(new Error(message), { name: code });
}

/** `answers` by operation name (`DescribeVpcs`); an operation that is not there fails the test. */
export function fakeAws(answers: Record<string, Answer | object>, timeout = 5000): Fake {
  const calls: Fake["calls"] = [];
  const send = (command: { constructor: { name: string }; input: Record<string, unknown> }): Promise<unknown> => {
    const operation = command.constructor.name.replace(/Command$/, "");
    calls.push([operation, command.input]);
    const answer = answers[operation];
    if (answer === undefined) return Promise.reject(new Error(`the fake has no answer for ${operation}`));
    try {
      return Promise.resolve(typeof answer === "function" ? (answer as Answer)(command.input) : answer);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };
  const client = { send, config: {} };
  const aws = {
    region: "eu-central-1",
    partition: "aws",
    dnsSuffix: "amazonaws.com",
    timeout,
    client: () => client,
    accountId: () => Promise.resolve("111122223333"),
    inRegion: (region: string | undefined) => ({ ...aws, region: region ?? aws.region }),
  } as unknown as Aws;
  return { aws, calls, operations: () => calls.map(([operation]) => operation) };
}
