import type { Tags } from "../lib/labels.ts";
import { fromJson, isRecord, type Key } from "./forms.ts";

/** Tags of a company; tag-rules.ts checks keys and values. */
export const companyTagsKey: Key<Tags> = {
  parse: (value) => {
    const read = fromJson(value);
    return isRecord(read) && Object.values(read).every((each) => typeof each === "string") ? (read as Tags) : undefined;
  },
  allowed: "an object of keys and values, values that look like numbers in quotes",
  path: ".cost-center",
  example: "--type string 4711",
};
