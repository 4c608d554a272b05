import { expect, test } from "vitest";
import { type Drill, tableOf } from "./table.ts";

const quiet = { failures: [], silence: 3, commands: [] };
const drill = (fault: string, phase: string, seconds: number, seen: Partial<Drill["seen"]> = {}): Drill => ({
  ...{ fault, phase, seconds },
  seen: { ...quiet, ...seen },
});

test("a drill stands beside the same phase without a fault, with what a person saw and did", () => {
  const drills = [
    drill("nothing", "creation", 110),
    drill("Git server killed", "creation", 115),
    drill("AWS API frozen", "creation", 170, {
      failures: ["VPC a|b: create failed\ntimeout"],
      silence: 41,
      commands: ["fleet recover"],
    }),
  ];
  expect(tableOf(drills, "nothing")).toEqual([
    "| What | During | Took | Without | What a person saw, and did |",
    "| --- | --- | ---: | ---: | --- |",
    "| Git server killed | creation | 115 s | 110 s | it goes on |",
    "| AWS API frozen | creation | 170 s | 110 s | the hub did not answer for 41 s; VPC a\\|b: create failed timeout; **fleet recover** |",
  ]);
});

test("without the phase on its own nothing stands beside it, and a long message is cut", () => {
  const [, , row] = tableOf([drill("etcd killed", "removal", 60, { failures: ["x".repeat(200)] })], "nothing");
  expect(row).toBe(`| etcd killed | removal | 60 s |  | ${"x".repeat(160)}… |`);
});
