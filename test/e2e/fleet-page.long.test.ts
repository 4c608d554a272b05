import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBrowser } from "@eks-gitops-fleet/local/toolchain";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { shownOf } from "../../cli/report/live.ts";
import type { Report } from "../../cli/report/model.ts";
import { pageOf } from "../../cli/report/page/page.ts";
import { listen, serverOf } from "../../cli/report/server.ts";
import { demo, thousand } from "../cli/report/demo.ts";

/** The page of fleet report in Debian's Chromium. */

const files = mkdtempSync(join(tmpdir(), "fleet-page-"));
const desktop = { width: 1280, height: 900 };
const phone = { width: 360, height: 740 };

let browser: Browser;
beforeAll(async () => {
  const { program, env } = await ensureBrowser((line) => process.stderr.write(`${line}\n`));
  browser = await chromium.launch({
    executablePath: program,
    env: { ...process.env, ...env },
    // Chromium's sandbox refuses to run for root.
    args: ["--no-sandbox", "--disable-gpu"],
  });
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});
afterAll(async () => {
  await browser.close();
  rmSync(files, { recursive: true });
});

/** What the page asked for, and what the browser refused it. */
interface Noted {
  readonly requests: string[];
  readonly errors: string[];
}

async function open(address: string, options: BrowserContextOptions = {}): Promise<{ page: Page; noted: Noted }> {
  const context = await browser.newContext({ viewport: desktop, ...options });
  const page = await context.newPage();
  const noted: Noted = { requests: [], errors: [] };
  page.on("request", (request) => noted.requests.push(request.url()));
  page.on("console", (message) => message.type() === "error" && noted.errors.push(message.text()));
  page.on("pageerror", (error) => noted.errors.push(error.message));
  await page.goto(address);
  return { page, noted };
}

function fileOf(name: string, report: Report): string {
  const file = join(files, `${name}.html`);
  writeFileSync(file, pageOf(report));
  return pathToFileURL(file).href;
}

const openFile = (report: Report, options?: BrowserContextOptions) => open(fileOf("fleet", report), options);

/** What axe-core finds, by rule. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

const overflow = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");

const shownRows = (page: Page) => page.locator("#spokes tr[data-state]:visible");
const filter = (page: Page) => page.getByRole("searchbox");

const openDetails = (page: Page): Promise<void> =>
  page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");

describe("the page in a file", () => {
  test("asks for nothing but itself, and does nothing that its policy forbids", async () => {
    const { page, noted } = await openFile(demo());
    await filter(page).fill("blue");
    await expect.poll(() => shownRows(page).count()).toBe(1);
    expect(noted.requests).toEqual([page.url()]);
    expect(noted.errors).toEqual([]);
  });

  test("says on its first screen whether all is well, what is not, since when, whose it is and what to do", async () => {
    const { page } = await openFile(demo());
    await expect
      .poll(() => page.locator("#said").textContent())
      .toMatch(/^Not all is well: 2 failing, 1 not reached, 1 due, 1 on the way/);
    const row = page.getByRole("row", { name: /application cart on blue/ });
    const box = await row.boundingBox();
    expect((box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)).toBeLessThan(desktop.height);
    expect(await row.textContent()).toMatch(
      /✗ failing[\s\S]*47m[\s\S]*shop-team[\s\S]*health check failed[\s\S]*fleet why blue\/cart/,
    );
  });

  test.each([
    ["a desk, light", desktop, "light"],
    ["a desk, dark", desktop, "dark"],
    ["a phone, light", phone, "light"],
    ["a phone, dark", phone, "dark"],
  ] as const)("axe-core finds nothing, colours and roles included, on %s", async (_, viewport, colorScheme) => {
    const { page } = await openFile(demo(), { viewport, colorScheme });
    await openDetails(page);
    expect(await findings(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
  });

  test("is dark where the system is", async () => {
    const back = "getComputedStyle(document.body).backgroundColor";
    expect(await (await openFile(demo(), { colorScheme: "dark" })).page.evaluate(back)).toBe("rgb(13, 17, 23)");
    expect(await (await openFile(demo(), { colorScheme: "light" })).page.evaluate(back)).toBe("rgb(255, 255, 255)");
  });

  test("is used by keyboard alone", async () => {
    const { page } = await openFile(demo());
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the spokes");
    // A key alone is nobody's command.
    await page.keyboard.press("k");
    expect(await page.evaluate("document.activeElement.tagName")).not.toBe("INPUT");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("green");
    await expect.poll(() => shownRows(page).count()).toBe(1);
    await expect.poll(() => page.locator("#shown").textContent()).toBe("1 of 6 spokes");
    await page.keyboard.press("Escape");
    await expect.poll(() => shownRows(page).count()).toBe(6);
    // Environment, ring, tenant, state; then the first thing below.
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate("document.activeElement.tagName")) === "SUMMARY") break;
    }
    await page.keyboard.press("Enter");
    expect(await page.locator("details[open]").count()).toBe(1);
  });

  test("filters a thousand spokes by words, environment, ring, tenant and state", async () => {
    const { page, noted } = await openFile(thousand());
    expect(await shownRows(page).count()).toBe(1000);
    await filter(page).fill("spoke-77");
    await expect.poll(() => shownRows(page).count()).toBe(11);
    await filter(page).fill("");
    await page.getByLabel("Ring").selectOption("early");
    await expect.poll(() => shownRows(page).count()).toBe(100);
    await page.getByLabel("Tenant").selectOption("tenant-10");
    await expect.poll(() => shownRows(page).count()).toBe(50);
    expect(await page.locator("#spokes tbody:visible").count()).toBe(1);
    expect(await page.locator("#attention tr[data-state]:visible").count()).toBe(10);
    expect(noted.errors).toEqual([]);
  });

  test("of a thousand spokes fits a phone too", async () => {
    const { page } = await openFile(thousand(), { viewport: phone });
    expect(await overflow(page)).toBe(0);
  });

  test("tells a screen reader rows and headers, also where a phone shows no columns", async () => {
    for (const viewport of [desktop, phone]) {
      const { page } = await openFile(demo(), { viewport });
      const session = await page.context().newCDPSession(page);
      const { nodes } = await session.send("Accessibility.getFullAXTree");
      const names = (role: string) =>
        nodes.filter((node) => node.role?.value === role && !node.ignored).map((node) => String(node.name?.value));
      expect(names("table")).toContain(
        "Spokes by environment and ring; a name leads to the cluster in the AWS console",
      );
      expect(names("rowheader")).toEqual(expect.arrayContaining(["blue", "application cart on blue"]));
      expect(names("row").length).toBeGreaterThan(20);
      expect(names("heading")).toEqual(expect.arrayContaining(["Fleet pilot", "What is not well", "Spokes"]));
      expect(names("status").length).toBeGreaterThan(0);
      await page.context().close();
    }
  });

  test("is read without scripts", async () => {
    const { page } = await openFile(demo(), { javaScriptEnabled: false });
    expect(await shownRows(page).count()).toBe(6);
    expect(await page.locator("form").isVisible()).toBe(false);
  });
});

describe("the page that is served", () => {
  let shown = shownOf(demo(), undefined);
  const server = serverOf(() => shown, "test");
  let address: string;
  beforeAll(async () => {
    address = `http://127.0.0.1:${await listen(server, 0)}/test/`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  test("shows a change by itself; the filter, what is open and the place of the keyboard stay", async () => {
    shown = shownOf(demo(), undefined);
    const { page, noted } = await open(address);
    await filter(page).fill("blue");
    await page.locator("#applications-blue summary").click();
    shown = shownOf(demo("the image shop/cart:9 is not there"), undefined, shown);
    await expect
      .poll(() => page.getByRole("row", { name: /application cart on blue/ }).textContent(), { timeout: 10_000 })
      .toContain("the image shop/cart:9 is not there");
    expect(await filter(page).inputValue()).toBe("blue");
    expect(await shownRows(page).count()).toBe(1);
    expect(await page.locator("details[open]").getAttribute("id")).toBe("applications-blue");
    expect(await page.evaluate("document.activeElement.closest('details')?.id")).toBe("applications-blue");
    await filter(page).fill("");
    const focused = "document.activeElement.textContent";
    await page.locator("#spokes th a").nth(1).focus();
    const link = await page.evaluate(focused);
    shown = shownOf(demo("the image shop/cart:10 is not there"), undefined, shown);
    await expect.poll(() => page.locator("#attention").textContent(), { timeout: 10_000 }).toContain("shop/cart:10");
    expect(await page.evaluate(focused)).toBe(link);
    expect(noted.errors).toEqual([]);
  });

  test("says aloud that all is well again, and in its title", async () => {
    shown = shownOf(demo(), undefined);
    const { page } = await open(address);
    const failing = await page.title();
    shown = shownOf(
      { ...demo(), attention: [], counts: { ...demo().counts, failing: 0, unknown: 0, due: 0, working: 0 } },
      undefined,
      shown,
    );
    await expect
      .poll(() => page.locator("#said[role=status]").textContent(), { timeout: 10_000 })
      .toMatch(/^All is well/);
    expect([failing, await page.title()]).toEqual(["(3) Fleet pilot", "Fleet pilot"]);
  });

  test("says so when the hub can't be read, and when nothing answers any more", async () => {
    shown = shownOf(demo(), "the context hub can't list spokes");
    const { page } = await open(address);
    expect(await page.getByRole("alert").first().textContent()).toContain("the context hub can't list spokes");
    await page.context().setOffline(true);
    await expect.poll(() => page.locator("#contact").isVisible(), { timeout: 10_000 }).toBe(true);
    await page.context().setOffline(false);
    await expect.poll(() => page.locator("#contact").isVisible(), { timeout: 10_000 }).toBe(false);
  });
});
