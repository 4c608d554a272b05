import { Region } from "@pulumi/aws/types/enums/index.js";
import { type Problem, shown } from "../../lib/problems.ts";
import { closest } from "../closest.ts";

/** The AWS region of a hub, as a command line names it. */

export const regionForm = {
  parse: (value: string): unknown => /^[a-z]{2}(-[a-z]+)+-\d+$/.exec(value) ?? undefined,
  allowed: "the name of an AWS region, such as eu-central-1",
};

/** The regions that the AWS provider of Pulumi lists, without those of partitions that `partitionOf` does not know. */
const known: readonly string[] = Object.values(Region).filter((region) => !/-iso[a-z]?-|^eusc-/.test(region));

/** The option that takes a region which AWS has opened since. */
export const newRegionOption = { "new-region": { type: "boolean", default: false } } as const;

/** The problem of a region that is none of the known ones, unless somebody says that it is a new one. */
export function unknownRegionProblems(region: string, isNew: boolean): Problem[] {
  if (isNew || regionForm.parse(region) === undefined || known.includes(region)) return [];
  const similar = closest(region, known);
  return [
    {
      key: "--region",
      what: "is none of the AWS regions that this version of the project knows",
      got: shown(region),
      allowed: known.join(", "),
      remedy: `${similar === undefined ? "" : `did you mean ${similar}? If not, `}correct it, or add --new-region if AWS has opened it since`,
    },
  ];
}
