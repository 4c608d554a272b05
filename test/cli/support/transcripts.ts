import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The wrong command lines in a folder's files, each after `$ `, with the whole message that follows it. */
export const transcriptsIn = (folder: string): readonly { readonly line: string; readonly message: string }[] =>
  readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), "utf8")
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [line = "", ...message] = part.split("\n");
        return { line, message: message.join("\n").trim() };
      }),
  );
