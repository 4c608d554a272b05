import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { EC2 } from "@aws-sdk/client-ec2";
import { ElasticLoadBalancingV2 } from "@aws-sdk/client-elastic-load-balancing-v2";
import {
  type BalancerInterface,
  type Instance,
  keepBalancerAddresses,
  sourceOf,
  translateOnNodes,
} from "../../instance/index.ts";
import { type QueryPlace, queryApi } from "../aws/query-api.ts";
import type { Log } from "../listeners.ts";
import { check, GroupHealth, inService } from "./health.ts";
import { answerer } from "./proxy.ts";
import { type Balancer, type Group, type Listener, readSnapshot, type Snapshot } from "./snapshot.ts";

/** How often the load balancers that there are are looked at, and their targets whose time has come. */
const PASS_MS = 5000;

interface Door {
  readonly server: Server;
  listener: Listener;
}

const doorKey = ({ publicAddress }: BalancerInterface, { port }: Listener): string => `${publicAddress}:${port}`;

const doorsOf = (balancers: readonly Balancer[]) =>
  balancers.flatMap(({ interfaces, listeners }) =>
    interfaces.flatMap((own) => listeners.map((listener) => [doorKey(own, listener), own, listener] as const)),
  );

/** Has the application load balancers of the account that face the internet really listen, check their targets and pass requests on. */
export function balancing(instance: Instance, place: QueryPlace, log: Log) {
  const clients = { ec2: new EC2(place), elb: new ElasticLoadBalancingV2(place) };
  const call = queryApi(place, "elasticloadbalancing", "2015-12-01");
  const doors = new Map<string, Door>();
  const health = new Map<string, GroupHealth>();
  const translated = new Map<string, string>();
  /** ARNs of groups whose health has changed since it was told. */
  const untold = new Set<string>();
  let groups: Snapshot["groups"] = new Map();
  let interfaces: readonly BalancerInterface[] = [];

  const targetsOf = (arn: string) => {
    const [group, known] = [groups.get(arn), health.get(arn)];
    return group === undefined || known === undefined ? [] : inService(group, known);
  };

  const open = async (key: string, own: BalancerInterface, listener: Listener) => {
    const source = sourceOf(instance, own.publicAddress);
    const routing = { listener: () => doors.get(key)?.listener, targets: targetsOf, source };
    const server = createServer(answerer(routing));
    await once(server.listen(listener.port, own.publicAddress), "listening");
    doors.set(key, { server, listener });
    log(`a load balancer listens on http://${key}`);
  };

  const close = ({ server }: Door) => {
    server.close();
    server.closeAllConnections();
  };

  const keepDoors = async (balancers: readonly Balancer[]) => {
    const wanted = doorsOf(balancers);
    for (const [key, door] of doors)
      if (!wanted.some(([each]) => each === key)) {
        close(door);
        doors.delete(key);
      }
    for (const [key, own, listener] of wanted) {
      const door = doors.get(key);
      if (door === undefined) await open(key, own, listener);
      else door.listener = listener;
    }
  };

  const tell = (arn: string, known: GroupHealth) => {
    const targets = [...known.all()].flatMap(([id, { state, reason }], at) =>
      Object.entries({ Id: id, State: state, Reason: reason }).map(([field, value]): [string, string] => [
        `Targets.member.${at + 1}.${field}`,
        value,
      ]),
    );
    return call("KeepTargetHealth", { TargetGroupArn: arn, ...Object.fromEntries(targets) });
  };

  const checkGroup = async (arn: string, group: Group, source: string) => {
    const known = health.get(arn) ?? new GroupHealth();
    health.set(arn, known);
    if (await known.pass(group, Date.now(), (target) => check(group, target, source))) untold.add(arn);
    if (!untold.has(arn)) return;
    await tell(arn, known);
    untold.delete(arn);
  };

  return {
    /** Makes it so once. @returns when to look again: the milliseconds, or `wait` while there is no load balancer */
    pass: async (): Promise<number | "wait"> => {
      const snapshot = await readSnapshot(clients);
      const before = interfaces;
      groups = snapshot.groups;
      const wanted = snapshot.balancers.flatMap(({ interfaces: own }) => own);
      await keepBalancerAddresses(instance, wanted, before);
      if (wanted.length > 0 || before.length > 0) await translateOnNodes(instance, wanted, translated);
      // Not earlier: a pass that fails is made once more.
      interfaces = wanted;
      await keepDoors(snapshot.balancers);
      for (const arn of health.keys())
        if (!groups.has(arn)) {
          health.delete(arn);
          untold.delete(arn);
        }
      const [first] = interfaces;
      if (first === undefined) return "wait";
      const source = sourceOf(instance, first.publicAddress);
      await Promise.all([...groups].map(([arn, group]) => checkGroup(arn, group, source)));
      return PASS_MS;
    },
    close: () => {
      for (const door of doors.values()) close(door);
    },
  };
}
