/** Hours of a month, as AWS's own calculator has it. */
export const monthHours = 730;

/**
 * What costs the same in every region of the partition `aws`, in US dollars; of other partitions nothing is known here.
 * @see https://aws.amazon.com/eks/pricing/ — a control plane in standard support; 0.60 an hour in extended support, which no cluster of a
 * fleet gets into (`supportType: STANDARD`)
 * @see https://aws.amazon.com/vpc/pricing/ — public IPv4 addresses, in use or idle, since 2024-02-01
 * @see https://aws.amazon.com/kms/pricing/ and https://aws.amazon.com/secrets-manager/pricing/
 */
export const rates = {
  controlPlaneHour: 0.1,
  addressHour: 0.005,
  /**
   * A key that was not rotated yet. Each of its first two rotations adds as much, later ones nothing, and all keys of a fleet rotate every year: what
   * they cost depends on their age, which no file says.
   * @see https://docs.aws.amazon.com/kms/latest/developerguide/rotate-keys.html — "Key rotation and pricing"
   */
  keyMonth: 1,
  secretMonth: 0.4,
} as const;

/** The copies of these pages in which {@link rates} were looked up. */
export const ratesOf = { source: "AWS's pages of prices", date: "2026-09-20" } as const;

/**
 * US dollars for an hour of a NAT gateway: as pipetail/cloudlint has had them since 2020-05-02 (pkg/worker/nat_gw_unused.go). AWS's price list of
 * 2026-09-25 still has that of eu-west-1, and its pricing page of 2026-09-20 that of us-east-2.
 */
export const natGatewayHours: Readonly<Record<string, number>> = {
  "ap-east-1": 0.065,
  "ap-northeast-1": 0.062,
  "ap-northeast-2": 0.059,
  "ap-northeast-3": 0.062,
  "ap-south-1": 0.056,
  "ap-southeast-1": 0.059,
  "ap-southeast-2": 0.059,
  "ca-central-1": 0.05,
  "eu-central-1": 0.052,
  "eu-north-1": 0.046,
  "eu-west-1": 0.048,
  "eu-west-2": 0.05,
  "eu-west-3": 0.05,
  "me-south-1": 0.0528,
  "sa-east-1": 0.093,
  "us-east-1": 0.045,
  "us-east-2": 0.045,
  "us-gov-east-1": 0.054,
  "us-gov-west-1": 0.054,
  "us-west-1": 0.048,
  "us-west-2": 0.045,
};

/** The publication of {@link natGatewayHours}. */
export const natGatewayOf = { source: "pipetail/cloudlint", date: "2020-05-02" } as const;

/**
 * US dollars for an hour of an interface endpoint in one zone: as xbill9/zombiescan has them (src/zombiescan/pricing/table.json), made from AWS's price list
 * ("generated": "2026-09-21T00:49:12Z", usage type VpcEndpoint-Hours).
 */
export const endpointHours: Readonly<Record<string, number>> = {
  "af-south-1": 0.01309,
  "ap-east-1": 0.0143,
  "ap-east-2": 0.0126,
  "ap-northeast-1": 0.014,
  "ap-northeast-2": 0.013,
  "ap-northeast-3": 0.014,
  "ap-south-1": 0.013,
  "ap-south-2": 0.013,
  "ap-southeast-1": 0.013,
  "ap-southeast-2": 0.013,
  "ap-southeast-3": 0.013,
  "ap-southeast-4": 0.013,
  "ap-southeast-5": 0.0117,
  "ap-southeast-6": 0.01365,
  "ap-southeast-7": 0.0117,
  "ca-central-1": 0.011,
  "ca-west-1": 0.011,
  "eu-central-1": 0.012,
  "eu-central-2": 0.0132,
  "eu-north-1": 0.0105,
  "eu-south-1": 0.01155,
  "eu-south-2": 0.011,
  "eu-west-1": 0.011,
  "eu-west-2": 0.011,
  "eu-west-3": 0.011,
  "il-central-1": 0.01155,
  "me-central-1": 0.0121,
  "me-south-1": 0.0121,
  "mx-central-1": 0.0105,
  "sa-east-1": 0.021,
  "us-east-1": 0.01,
  "us-east-2": 0.01,
  "us-gov-east-1": 0.0125,
  "us-gov-west-1": 0.0125,
  "us-west-1": 0.011,
  "us-west-2": 0.01,
};

/** The publication of {@link endpointHours}. */
export const endpointOf = { source: "xbill9/zombiescan", date: "2026-09-21" } as const;
