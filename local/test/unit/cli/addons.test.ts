import { describe, expect, test } from "vitest";
import { addonSteps, prepareAddons } from "../../../cli/addons.ts";
import { startOptions } from "../../../cli/start-options.ts";
import { notePrepared, preparedAddons } from "../../../clusters/index.ts";
import { INSTANCE_FOLDER, instanceAt } from "../../../instance/index.ts";
import { scratch } from "../../support/scratch.ts";

const names = async (...[dir, wanted]: Parameters<typeof addonSteps>) =>
  (await addonSteps(dir, wanted)).map(({ name }) => name);

describe("npm start", () => {
  test("has no step for add-ons unless somebody asks for one", async () =>
    expect(await names(scratch(), [])).toEqual([]));

  test("prepares those that are asked for, and those of an earlier start", async () => {
    const dir = scratch();
    expect(await names(dir, ["cert_manager"])).toEqual(["prepare the add-ons cert_manager"]);
    await notePrepared(instanceAt(dir, 0), { names: ["external_dns"], images: [], charts: "/charts", programs: {} });
    expect(await names(dir, [])).toEqual(["prepare the add-ons external_dns"]);
    expect(await names(dir, ["cert_manager"])).toEqual(["prepare the add-ons external_dns, cert_manager"]);
  });

  test("takes their names, separated by commas", () =>
    expect(startOptions(["--addons", "cert_manager, external_dns"]).addons).toEqual(["external_dns", "cert_manager"]));

  test.each(["--addons=", "--addons=external-dns", "--addons=cert_manager,"])(
    "refuses %s and says what is allowed",
    (argument) =>
      expect(() => startOptions([argument])).toThrow(
        "allowed are external_dns, cert_manager, metrics_server, kyverno, image_automation, prometheus, cluster_api, aws_load_balancer_controller, karpenter, velero, ack_dynamodb, ack_sqs",
      ),
  );
});

describe("the add-ons of an instance", () => {
  test("are none at first, then those that were noted, in a file that goes with the instance", async () => {
    const instance = instanceAt(scratch(), 0);
    expect(await preparedAddons(instance)).toBeUndefined();
    const built = {
      names: ["cert_manager"],
      images: [{ name: "a", reference: "b:c", tar: "/d" }],
      ...{ charts: "/e", programs: { prometheus: "/f" } },
    } as const;
    await notePrepared(instance, built);
    expect(await preparedAddons(instance)).toEqual(built);
    expect(INSTANCE_FOLDER.isPart(instance.dir, "addons.json")).toBe(true);
  });

  test("with a name that nobody knows are refused before anything is built", () =>
    expect(prepareAddons(instanceAt(scratch(), 0), ["istio"])).rejects.toThrow('unknown add-on "istio"'));
});
