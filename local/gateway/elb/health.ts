import { request } from "node:http";
import type { Group, Target } from "./snapshot.ts";

/** As the API has it (ELB API Reference, TargetHealth). */
interface Health {
  readonly state: "initial" | "healthy" | "unhealthy";
  readonly reason: string;
}

/** Codes that count as success: `200`, `200,202` or `200-299`. */
export function succeeds(matcher: string, status: number): boolean {
  return matcher.split(",").some((part) => {
    const [first = "", last = first] = part.trim().split("-");
    return Number(first) <= status && status <= Number(last);
  });
}

/** Asks a target once. @returns why not, where it does not answer as wanted */
export function check({ settings }: Group, target: Target, localAddress: string): Promise<string | undefined> {
  const { HealthCheckPort: wanted = "traffic-port", HealthCheckPath: path = "/" } = settings;
  const port = wanted === "traffic-port" ? target.port : Number(wanted);
  const timeout = (settings.HealthCheckTimeoutSeconds ?? 5) * 1000;
  return new Promise((resolve) => {
    const headers = { "user-agent": "ELB-HealthChecker/2.0" };
    const asked = request({ host: target.address, port, path, localAddress, headers, agent: false, timeout });
    asked.once("response", (answer) => {
      answer.resume();
      const isGood = succeeds(settings.Matcher?.HttpCode ?? "200", answer.statusCode ?? 0);
      resolve(isGood ? undefined : "Target.ResponseCodeMismatch");
    });
    asked.once("timeout", () => {
      resolve("Target.Timeout");
      asked.destroy();
    });
    asked.once("error", () => resolve("Target.FailedHealthChecks"));
    asked.end();
  });
}

const keyOf = ({ address, port }: Target): string => `${address}:${port}`;

interface Watched {
  health: Health;
  /** Checks that said the other of what the state says, one after another. */
  others: number;
  /** Milliseconds since 1970. */
  nextAt: number;
}

/** The health of the targets of one group. */
export class GroupHealth {
  readonly #watched = new Map<string, Watched>();

  of = (target: Target): Health["state"] => this.#watched.get(keyOf(target))?.health.state ?? "initial";

  /** All of it, by `<address>:<port>`. */
  all = (): ReadonlyMap<string, Health> => new Map([...this.#watched].map(([key, { health }]) => [key, health]));

  /** Checks the targets whose time has come; a new one at once. @returns whether the health of any changed */
  async pass(group: Group, now: number, ask: (target: Target) => Promise<string | undefined>): Promise<boolean> {
    const keys = new Set(group.targets.map(keyOf));
    for (const key of this.#watched.keys()) if (!keys.has(key)) this.#watched.delete(key);
    const due = group.targets.filter((target) => (this.#watched.get(keyOf(target))?.nextAt ?? 0) <= now);
    const changed = await Promise.all(due.map(async (target) => this.#note(group, target, now, await ask(target))));
    return changed.includes(true);
  }

  /** The first good answer makes a new target healthy; after that the thresholds of the group count (ELB User Guide, "Health checks"). */
  #note({ settings }: Group, target: Target, now: number, problem: string | undefined): boolean {
    const nextAt = now + (settings.HealthCheckIntervalSeconds ?? 30) * 1000;
    const { health, others } = this.#watched.get(keyOf(target)) ?? {
      health: { state: "initial", reason: "Elb.InitialHealthChecking" } as const,
      others: 0,
    };
    const said = problem === undefined ? "healthy" : "unhealthy";
    const needed = {
      initial: said === "healthy" ? 1 : (settings.UnhealthyThresholdCount ?? 2),
      healthy: settings.UnhealthyThresholdCount ?? 2,
      unhealthy: settings.HealthyThresholdCount ?? 5,
    }[health.state];
    const counted = said === health.state ? 0 : others + 1;
    const isOver = counted >= needed;
    const next: Health = isOver ? { state: said, reason: problem ?? "" } : health;
    this.#watched.set(keyOf(target), { health: next, others: isOver ? 0 : counted, nextAt });
    return isOver;
  }
}

/** The targets that get requests: the healthy ones, and all where there are unhealthy ones only ("fail-open"). None while all are new. */
export function inService(group: Group, health: GroupHealth): readonly Target[] {
  const healthy = group.targets.filter((target) => health.of(target) === "healthy");
  if (healthy.length > 0) return healthy;
  return group.targets.every((target) => health.of(target) === "unhealthy") ? group.targets : [];
}
