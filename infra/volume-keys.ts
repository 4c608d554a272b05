import { keyArnPattern, keyRegion, type VolumeKeys } from "../lib/iam/volume-key.ts";
import { duplicates, type Problem } from "../lib/problems.ts";
import { list, text } from "./forms.ts";

/** Keys of a company that encrypt volumes of the hub and of spokes. */
export const volumeKeyList = list(
  text(
    new RegExp(keyArnPattern),
    "the ARN of a KMS key, not of an alias",
    "arn:aws:kms:<region>:<account>:key/<id>   # aws kms describe-key --key-id alias/<name> --query KeyMetadata.Arn",
  ),
);

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
