import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import { filesBelow } from "../../../cli/render/files.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import type { Call } from "./fleet.ts";
import { printing } from "./printing.ts";

/** The token that a call of kubeseal seals. */
export const tokenIn = (call: Call | undefined): string => {
  const { token } = fromBase64(call?.input.data ?? {});
  if (token === undefined) return expect.fail("it seals no token");
  return token;
};

/** Where a token is in plain text or in base64: arguments of kubeseal, and files of a folder. */
export function traces(token: string, folder: string, calls: readonly Call[]): string[] {
  const forms = [token, Buffer.from(token).toString("base64")];
  const has = (text: string) => forms.some((form) => text.includes(form));
  return [
    ...calls.flatMap(({ argv }) => argv).filter(has),
    ...filesBelow(folder).filter((file) => has(readFileSync(file, "utf8"))),
  ];
}

/** What a command prints, run with the kubeseal of a case; its flags name files with these contents. */
export async function printed(
  run: (argv: readonly string[]) => Promise<number>,
  kubeseal: string,
  argv: readonly string[],
  named: Readonly<Record<string, string>>,
): Promise<string> {
  vi.stubEnv("PATH", dirname(kubeseal));
  try {
    const given = Object.entries(named).map(([flag, text]) => {
      const file = join(dirname(kubeseal), flag);
      writeFileSync(file, text);
      return [`--${flag}`, file];
    });
    const { code, said } = await printing(() => run([...argv, ...given.flat()]), ["log", "error"]);
    expect(code).toBe(0);
    return said;
  } finally {
    vi.unstubAllEnvs();
  }
}
