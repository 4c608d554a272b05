import {
  chmodSync,
  existsSync,
  type FSWatcher,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Push } from "./webhooks.ts";

/**
 * How the Git server learns of pushes, also of those by path: a hook of each repository leaves a file in a folder beside the
 * repositories, which the server watches. The hook waits for nobody, and without the folder it does nothing.
 */

const FOLDER = "pushes";

const hook = `#!/bin/sh
# Tells the Git server of this instance what was pushed: it calls the webhooks (local/git/pushes.ts).
pushes=../${FOLDER}
[ -d "$pushes" ] || exit 0
file=$(mktemp "$pushes/.XXXXXXXXXX") || exit 0
{ basename "$PWD" .git; cat; } >"$file" && mv "$file" "$pushes/\${file##*/.}"
`;

/** Writes the hook of a bare repository. */
export function installHook(bare: string): void {
  const folder = join(bare, "hooks");
  const file = join(folder, "post-receive");
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, hook, { mode: 0o755 });
  chmodSync(file, 0o755);
}

/** What a hook wrote: the repository, and a line for each branch or tag. */
function parsePushes(text: string): Push[] {
  const [repository = "", ...lines] = text.split("\n");
  return lines.flatMap((line) => {
    const [before, after, ref] = line.split(" ");
    return before === undefined || after === undefined || ref === undefined ? [] : [{ repository, before, after, ref }];
  });
}

/**
 * Hands over every push to the repositories in a folder, also those made while nobody watched.
 * @returns ends it
 */
export function watchPushes(root: string, onPush: (push: Push) => void): () => void {
  const folder = join(root, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(root)) if (name.endsWith(".git")) installHook(join(root, name));
  const take = () => {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(".")) continue; // still being written
      const file = join(folder, name);
      const text = readFileSync(file, "utf8");
      rmSync(file);
      for (const push of parsePushes(text)) onPush(push);
    }
  };
  const watcher: FSWatcher = watch(folder, () => {
    if (existsSync(folder)) take();
  });
  take();
  return () => watcher.close();
}
