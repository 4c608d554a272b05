import { setTimeout } from "node:timers/promises";

/** Asks again and again, a second after each answer, until it is stopped: then it says how many answers there were, and every failure. */
export function asking(ask: () => Promise<unknown>) {
  let answered = 0;
  let going = true;
  const failures: string[] = [];
  const done = (async () => {
    while (going) {
      try {
        await ask();
        answered += 1;
      } catch (error) {
        failures.push(`${new Date().toISOString()} ${(error as Error).message}`);
      }
      await setTimeout(1000);
    }
  })();
  return async () => {
    going = false;
    await done;
    return { answered, failures };
  };
}
