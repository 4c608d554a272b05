import { credentialScope } from "../aws/credential-scope.ts";
import type { HttpRequest } from "../aws/http.ts";
import { eksOperation } from "../eks/router.ts";
import type { Faults } from "./faults.ts";

/** Longer than it takes to notice that an answer is held and to kill whoever waits for it. */
export const HOLD_SECONDS = 60;

/** The action that a signed request asks for, as IAM names it; undefined where its service names no actions in requests. */
export function actionOf(request: HttpRequest): string | undefined {
  const service = credentialScope(request)?.service;
  const name =
    service === "eks"
      ? eksOperation(request)
      : (request.headers["x-amz-target"]?.split(".").at(-1) ??
        (request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded")
          ? new URLSearchParams(request.body.toString("utf8")).get("Action")
          : undefined));
  return service === undefined || !name ? undefined : `${service}:${name}`;
}

/** Whether a request has a text in its path or its body, as it was sent. */
const contains = ({ body, url }: HttpRequest, text: string | undefined): boolean =>
  text === undefined || url.includes(text) || body.includes(text);

/** Gives a function that names the action of a request whose answer is to be held: of the first for each action since the faults have it. */
export function firsts(): (request: HttpRequest, faults: Pick<Faults, "heldAnswers">) => string | undefined {
  const seen = new Set<string>();
  return (request, { heldAnswers }) => {
    for (const action of seen) if (heldAnswers.every((held) => held.action !== action)) seen.delete(action);
    const action = heldAnswers.length === 0 ? undefined : actionOf(request);
    const isHeld = heldAnswers.some((held) => held.action === action && contains(request, held.containing));
    if (action === undefined || !isHeld || seen.has(action)) return undefined;
    seen.add(action);
    return action;
  };
}
