import { compute } from "./ec2-compute.ts";
import { network } from "./ec2-network.ts";

export const kinds = [...network, ...compute];
