import { keyArnPattern, keyRegion, type VolumeKeys } from "../lib/iam/volume-key.ts";
import { duplicates, type Problem } from "../lib/problems.ts";
import { list, text } from "./forms.ts";

/** Keys of a company that encrypt volumes and log groups of the hub and of spokes. */

const anArn = "the ARN of a KMS key, not of an alias";
const example =
  "arn:aws:kms:<region>:<account>:key/<id>   # aws kms describe-key --key-id alias/<name> --query KeyMetadata.Arn";

export const volumeKeyList = list(text(new RegExp(keyArnPattern), anArn, example));

export const logKey = text(new RegExp(`^$|${keyArnPattern}`), `${anArn}, or empty`, example);

/** CloudWatch Logs uses only keys of a log group's own region (User Guide, "Encrypt log data in CloudWatch Logs using AWS KMS", step 2). */
export function logKeyRules({ logKey: got = "" }: { readonly logKey?: string }, region?: string): Problem[] {
  if (got === "" || !region || keyRegion(got) === region) return [];
  return [
    {
      key: "logKey",
      what: "is a key of another region than the hub's log groups",
      got,
      allowed: `a key of ${region}`,
      remedy: "create the key (or a replica of a multi-Region key) there",
    },
  ];
}

/** Each key once, and the hub's own in its region. */
export function volumeKeyRules({ volumeKeys: keys = [] }: VolumeKeys, region?: string): Problem[] {
  const twice = duplicates(keys).map((got) => ({
    key: "volumeKeys",
    what: "names a key twice",
    got,
    allowed: "each once",
    remedy: "remove one of the two",
  }));
  const [first] = keys;
  if (first === undefined || !region || keyRegion(first) === region) return twice;
  return [
    ...twice,
    {
      key: "volumeKeys",
      what: "begins with a key of another region than the hub's, whose nodes use the first key",
      got: first,
      allowed: `a key of ${region} as the first: EBS uses keys of a volume's own region`,
      remedy: "change the order, or create the key (or a replica of a multi-Region key) there",
    },
  ];
}
