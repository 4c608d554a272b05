import { setTimeout as sleep } from "node:timers/promises";
import { tryKubectl } from "../e2e/support/fleet.ts";
import { recover } from "../e2e/support/made-twice.ts";

/** What a person does who looks at a spoke from time to time. */

/** What was seen of a spoke during a drill. */
export interface Seen {
  /** What its status said of a failure, in the order in which it was first said. */
  readonly failures: readonly string[];
  /** The longest time in seconds for which the hub did not say anything of it. */
  readonly silence: number;
  /** Commands that its status asked for, and that were run. */
  readonly commands: readonly string[];
}

/** Milliseconds between two looks. */
const PAUSE = 2000;
/** Milliseconds for which a spoke says that it needs a person before one acts. */
const REACTION = 20_000;

interface Status {
  readonly phase?: string;
  readonly message?: string;
  readonly conditions?: readonly { readonly message?: string }[];
}

const asksFor = (command: string, { conditions = [] }: Status): boolean =>
  conditions.some(({ message }) => message?.includes(command));

/** Looks at a spoke until it is stopped, and does what its status asks a person to do; then says what was seen. */
function watching(name: string): () => Promise<Seen> {
  const failures = new Set<string>();
  const commands: string[] = [];
  let going = true;
  let silence = 0;
  let heard = Date.now();
  let asked: number | undefined;

  const look = async () => {
    const { code, stdout } = await tryKubectl([
      ...["get", "spoke", name, "--namespace", "spokes"],
      ...["--ignore-not-found", "--output", "json", "--request-timeout=5s"],
    ]);
    if (code !== 0) {
      silence = Math.max(silence, Date.now() - heard);
      return;
    }
    heard = Date.now();
    const status: Status = stdout === "" ? {} : (JSON.parse(stdout).status ?? {});
    if (status.phase === "Failing") failures.add(status.message ?? "");
    asked = asksFor("fleet recover", status) ? (asked ?? Date.now()) : undefined;
    if (asked === undefined || Date.now() - asked < REACTION) return;
    await recover(name);
    commands.push("fleet recover");
    asked = undefined;
    // Nobody listened meanwhile.
    heard = Date.now();
  };
  const done = (async () => {
    while (going) {
      await look();
      await sleep(PAUSE);
    }
  })();
  // Whoever stops it gets the error.
  done.catch(() => {});
  return async () => {
    going = false;
    await done;
    return { failures: [...failures], silence: Math.round(silence / 1000), commands };
  };
}

/** Looks at a spoke while something happens, to its end. Rejects when that does, or when the spoke could not be looked after. */
export async function seenDuring(name: string, happens: () => Promise<void>): Promise<Seen> {
  const stop = watching(name);
  const [ended] = await Promise.allSettled([happens()]);
  const [seen] = await Promise.allSettled([stop()]);
  if (ended.status === "fulfilled" && seen.status === "fulfilled") return seen.value;
  const errors = [ended, seen].flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  // Of two, neither says why the other is there.
  throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.map(String).join("; "));
}
