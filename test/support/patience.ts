/**
 * How long a unit test may take. While the machine is busy, loading the AWS SDK alone can take longer than vitest's 5 s, starting a
 * process longer than its 10 s for a hook, and what happens in the background longer than its 1 s for a poll.
 */
export const patience = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } };
