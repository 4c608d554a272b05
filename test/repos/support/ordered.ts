import { awsKinds } from "../../../cli/app/aws-kinds.ts";

/** The kinds of objects by which an application orders what it may order in AWS: versions of a bucket are a kind of their own. */
export const orderedKinds: readonly string[] = [...awsKinds, "s3.BucketVersioning"].sort();
