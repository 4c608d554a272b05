import type { Action, RedirectActionConfig, Rule, RuleCondition } from "@aws-sdk/client-elastic-load-balancing-v2";

/** What rules look at in a request. */
export interface Asked {
  /** Without a port. */
  readonly host: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly header: (name: string) => string | undefined;
}

/** Whether a text is one of the patterns: `*` is any characters, `?` is one (ELB User Guide, "Condition types for listener rules"). */
function isLike(text: string, patterns: readonly string[], flags = ""): boolean {
  return patterns.some((pattern) => {
    const expression = pattern
      .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".");
    return new RegExp(`^${expression}$`, `s${flags}`).test(text);
  });
}

/** Whether a request meets a condition. One of a kind that is not known here is never met: its requests get what the other rules say. */
function meets(asked: Asked, condition: RuleCondition): boolean {
  const { Field, Values = [], HostHeaderConfig, PathPatternConfig, HttpRequestMethodConfig } = condition;
  if (Field === "host-header") return isLike(asked.host, HostHeaderConfig?.Values ?? Values, "i");
  if (Field === "path-pattern") return isLike(asked.path, PathPatternConfig?.Values ?? Values);
  if (Field === "http-request-method") return (HttpRequestMethodConfig?.Values ?? Values).includes(asked.method);
  if (Field === "http-header") {
    const { HttpHeaderName = "", Values: wanted = [] } = condition.HttpHeaderConfig ?? {};
    const found = asked.header(HttpHeaderName.toLowerCase());
    return found !== undefined && isLike(found, wanted, "i");
  }
  return false;
}

/** The actions of the first rule whose conditions a request meets. */
export function actionsFor(rules: readonly Rule[], asked: Asked): readonly Action[] {
  const found = rules.find(({ Conditions = [] }) => Conditions.every((condition) => meets(asked, condition)));
  return (found?.Actions ?? []).toSorted((one, other) => (one.Order ?? 0) - (other.Order ?? 0));
}

/** ARN of the target group that a request goes to, by the weights. @param random from 0, below 1 */
export function groupFor({ ForwardConfig, TargetGroupArn }: Action, random: number): string | undefined {
  const weighted = (ForwardConfig?.TargetGroups ?? []).filter(({ Weight = 1 }) => Weight > 0);
  let left = random * weighted.reduce((sum, { Weight = 1 }) => sum + Weight, 0);
  const chosen = weighted.find(({ Weight = 1 }) => {
    left -= Weight;
    return left < 0;
  });
  return chosen?.TargetGroupArn ?? TargetGroupArn;
}

/** Where a redirect leads. @param from port of the listener */
export function redirectTo({ RedirectConfig }: Action, asked: Asked, from: number): string {
  const {
    Protocol = "#{protocol}",
    Host = "#{host}",
    Port = "#{port}",
    Path = "/#{path}",
    Query = "#{query}",
  }: Partial<RedirectActionConfig> = RedirectConfig ?? {};
  const filled = (text: string) =>
    text
      .replaceAll("#{protocol}", "http")
      .replaceAll("#{host}", asked.host)
      .replaceAll("#{port}", String(from))
      .replaceAll("#{path}", asked.path.slice(1))
      .replaceAll("#{query}", asked.query.toString());
  const query = filled(Query);
  return `${filled(Protocol).toLowerCase()}://${filled(Host)}:${filled(Port)}${filled(Path)}${query && `?${query}`}`;
}
