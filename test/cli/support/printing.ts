import { vi } from "vitest";

type Stream = "log" | "error";

/** Runs a command. @returns what it gives, and what it prints on these streams */
export async function printing<T>(run: () => Promise<T>, streams: readonly Stream[] = ["log"]) {
  const lines: string[] = [];
  const spies = streams.map((name) =>
    vi.spyOn(console, name).mockImplementation((...parts) => void lines.push(parts.join(" "))),
  );
  try {
    const code = await run();
    return { code, said: lines.join("\n") };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
