import { expect } from "vitest";
import type { HttpRequest, HttpResponse } from "../../../gateway/aws/http.ts";
import type { Authorizer } from "../../../gateway/aws/rest-api.ts";
import { gatewayKey } from "../../../gateway/key.ts";

export interface Answer {
  readonly status: number;
  /** The exception's name, undefined for an answer. */
  readonly error: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the shapes differ by operation, the tests say what they expect.
  readonly body: any;
}

/** What an answer with this exception matches, whose message contains or matches that. */
export const refusal = (error: string, message: string | RegExp) => ({
  error,
  body: { message: typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message) },
});

/** What ministack is asked to authorize. */
export interface Asked {
  readonly action: string;
  readonly resource: string;
  readonly passRoles: unknown[];
  readonly also: unknown[];
  readonly context: Record<string, unknown>;
}

export const ACCOUNT = "000000000000";
export const CALLER = `arn:aws:iam::${ACCOUNT}:user/deployer`;
export const place = { region: "us-east-1", account: ACCOUNT, partition: "aws" } as const;

interface Options {
  readonly headers?: Record<string, string>;
  /** Who calls, as ministack says. */
  readonly caller?: string;
}

const key = gatewayKey(new Uint8Array(32));

/** Calls an API that the gateway answers, with what stands for ministack: it allows what `allows` does. */
export function callsOf(api: (request: HttpRequest, by: Authorizer) => Promise<HttpResponse>) {
  const calls = {
    /** Newest last. */
    asked: [] as Asked[],
    /** Whether the caller has the right. */
    allows: (_asked: Asked): boolean => true,
    call: async (method: string, path: string, body: object | string = "", options: Options = {}): Promise<Answer> => {
      const { headers = {}, caller = CALLER } = options;
      const forward = async (_request: unknown, extra: Record<string, string> = {}): Promise<HttpResponse> => {
        const claims = Buffer.from((extra["x-fleet-assertion"] ?? "").split(".")[1] ?? "", "base64url").toString();
        const asked = JSON.parse(claims) as Asked;
        calls.asked.push(asked);
        return calls.allows(asked)
          ? { status: 200, headers: {}, body: JSON.stringify({ caller }) }
          : { status: 403, headers: { "x-amzn-errortype": "AccessDeniedException" }, body: "{}" };
      };
      const request = {
        method,
        url: path,
        rawHeaders: Object.entries(headers).flat(),
        headers,
        body: typeof body === "string" ? Buffer.from(body, "latin1") : Buffer.from(JSON.stringify(body)),
      };
      const answer = await api(request, { forward, key });
      const text = answer.body.toString();
      return {
        status: answer.status,
        error: answer.headers["x-amzn-errortype"] as string | undefined,
        body: text === "" ? undefined : JSON.parse(text),
      };
    },
  };
  return calls;
}

type Calls = ReturnType<typeof callsOf>;

/** Calls whose background work comes to rest by `settle`. */
export const settling = <T extends object>(calls: Calls & T, settle: () => Promise<void>) =>
  Object.assign(calls, {
    settle,
    /** The body of the answer to a GET. */
    get: async (path: string): Promise<Answer["body"]> => (await calls.call("GET", path)).body,
    /** Calls, and lets background work come to rest. */
    finish: async (...request: Parameters<Calls["call"]>): Promise<Answer> => {
      const answer = await calls.call(...request);
      await settle();
      return answer;
    },
  });
