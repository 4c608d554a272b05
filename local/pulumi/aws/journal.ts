/**
 * Remembers creations until the engine is known to have recorded them. When the engine is killed between AWS's answer and its own
 * record, the next run would make the resource a second time, or fail because the name is taken. Here it goes on with the first one.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Aws, differenceOf, type Handler, type Properties, withCallSettings } from "../../aws/index.ts";

interface Entry {
  urn: string;
  id: string;
}

export interface Journal {
  /** Runs a creation; a resource that an interrupted run made is taken over, or deleted first when it is not what is wanted. */
  create(urn: string, handler: Handler, aws: Aws, inputs: Properties, run: () => Promise<string>): Promise<string>;
  /** The engine has the resource with this id in its state: nothing needs to be remembered. */
  known(urn: string, id: string): Promise<void>;
}

/** A journal in a folder, one small file per creation; written before and removed after the engine's record. */
export function journalIn(folder: string): Journal {
  const fileOf = (urn: string) =>
    path.join(folder, `${createHash("sha256").update(urn).digest("hex").slice(0, 32)}.json`);

  const remember = async (urn: string, id: string): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = fileOf(urn);
    await writeFile(`${file}.new`, JSON.stringify({ urn, id } satisfies Entry), { mode: 0o600 });
    await rename(`${file}.new`, file);
  };

  const recall = async (urn: string): Promise<Entry | undefined> => {
    try {
      return JSON.parse(await readFile(fileOf(urn), "utf8")) as Entry;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  };

  return {
    async create(urn, handler, aws, inputs, run) {
      const left = await recall(urn);
      if (left && (await takeOver(handler, aws, left.id, inputs))) return left.id;
      const id = await withCallSettings({ made: (made) => remember(urn, made) }, run);
      await remember(urn, id);
      return id;
    },
    async known(urn, id) {
      if ((await recall(urn))?.id === id) await rm(fileOf(urn), { force: true });
    },
  };
}

/** True when the resource of an interrupted run is there and is what is wanted. One that differs is deleted. */
async function takeOver(handler: Handler, aws: Aws, id: string, inputs: Properties): Promise<boolean> {
  const actual = await handler.read(aws, id, inputs);
  if (!actual) return false;
  const names = Object.keys(inputs).filter((name) => name !== "tags" && name !== "region");
  const wanted = differenceOf(handler, names, inputs, actual).changed.length === 0;
  if (wanted) await handler.ready?.(aws, id);
  else await handler.delete(aws, id, { ...actual, ...inputs });
  return wanted;
}
