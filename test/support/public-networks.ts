import { reservedBlocks } from "../../lib/cidr.ts";

/** Networks that a public endpoint names, and whether they admit too much: config, the Spoke API and the policy pack agree. */
export interface PublicNetworks {
  readonly title: string;
  readonly cidrs: readonly string[];
  /** Public addresses that they cover together. */
  readonly addresses: number;
}

const slash8 = 2 ** 24;
/** `count` blocks of 2^19 addresses each, side by side. */
const thirteens = (count: number) =>
  Array.from({ length: count }, (_, index) => `${20 + (index >> 5)}.${(index % 32) * 8}.0.0/13`);

/** A /8 in 25 blocks of which each but the last is half of what is left: from a /9 to a /32. */
const halves = [
  ...Array.from({ length: 24 }, (_, index) => {
    const first = 2 ** 24 - 2 ** (24 - index);
    return `8.${first >> 16}.${(first >> 8) & 255}.${first & 255}/${9 + index}`;
  }),
  "8.255.255.255/32",
];

export const withinLimit: readonly PublicNetworks[] = [
  { title: "an office", cidrs: ["5.6.7.0/24"], addresses: 256 },
  { title: "a /8", cidrs: ["8.0.0.0/8"], addresses: slash8 },
  { title: "two halves of a /8", cidrs: ["8.0.0.0/9", "8.128.0.0/9"], addresses: slash8 },
  { title: "32 parts of a /8", cidrs: thirteens(32), addresses: slash8 },
  { title: "a block of every size, together a /8", cidrs: halves, addresses: slash8 },
  { title: "parts of one another", cidrs: ["8.1.2.0/24", "8.0.0.0/8", "8.1.0.0/16"], addresses: slash8 },
];

/** Where private networks may be named, so not on a public endpoint. */
export const withPrivate: readonly PublicNetworks[] = [
  {
    title: "a /8 beside all that is private",
    cidrs: ["8.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "10.1.0.0/16"],
    addresses: slash8,
  },
  { title: "a block that is private in part", cidrs: ["172.0.0.0/8", "5.6.7.0/24"], addresses: slash8 + 256 },
  { title: "public blocks around the private ones", cidrs: ["8.0.0.0/6", "10.0.0.0/8"], addresses: 4 * slash8 },
];

/** Networks that EKS refuses on a public endpoint: each reserved block, parts of some, and one around one. */
export const refused: readonly string[] = [
  ...Object.keys(reservedBlocks),
  ...["10.1.0.128/27", "198.51.100.10/32", "203.0.113.7/32", "100.127.255.255/32", "172.0.0.0/8"],
];

/** Their neighbours, which it takes. */
export const besideReserved: readonly string[] = [
  ...[
    ...["9.255.255.0/24", "11.0.0.0/24", "100.63.255.255/32", "100.128.0.0/24"],
    ...["172.15.0.0/16", "172.32.0.0/16", "192.0.1.0/24"],
  ],
  ...[
    ...["192.167.0.0/16", "192.169.0.0/16", "198.17.0.0/16", "198.20.0.0/16"],
    ...["203.0.112.0/24", "203.0.114.0/24", "223.255.255.0/24"],
  ],
];

export const beyondLimit: readonly PublicNetworks[] = [
  { title: "a /7", cidrs: ["8.0.0.0/7"], addresses: 2 * slash8 },
  { title: "two halves of the internet", cidrs: ["0.0.0.0/1", "128.0.0.0/1"], addresses: 2 ** 32 },
  { title: "a /8 and one address", cidrs: ["8.0.0.0/8", "5.6.7.8/32"], addresses: slash8 + 1 },
  {
    title: "a block of every size, together a /8, and one address",
    cidrs: [...halves, "5.6.7.8/32"],
    addresses: slash8 + 1,
  },
  { title: "33 blocks of which 32 are a /8", cidrs: thirteens(33), addresses: slash8 + 2 ** 19 },
];
