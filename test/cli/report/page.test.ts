import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { html, link, markupOf } from "../../../cli/report/page/html.ts";
import { pageOf } from "../../../cli/report/page/page.ts";
import { ago, app, hubFacts, report, spoke, unready } from "./support.ts";

const broken = { conditions: [unready("it fails", 90)] };
const fleet = report(
  hubFacts([spoke("blue", { environment: "prod", ring: "early" }), spoke("green")], {
    notSeen: ["can't list functions"],
  }),
  { blue: { objects: [app("shop", "b", broken), app("cart", "b")] } },
);
const page = pageOf(fleet);

/** The text of each cell of the rows whose name begins so. */
const row = (name: string): string =>
  page.split("</tr>").find((each) => each.includes(`class="name">${name}`) || each.includes(`>${name}</a></th>`)) ?? "";

describe("the page", () => {
  test("says first whether all is well, then what is not, since when, whose it is and what to do", () => {
    expect(page).toContain(
      '<p id="said" class="summary" role="status">Not all is well: 1 failing. 2 of 2 spokes Ready, 1 of 2 applications well.</p>',
    );
    const first = row("application shop on blue");
    for (const part of ["✗ failing", "1h30m", "payments", "Kustomization shop: it fails", "fleet why blue/shop"])
      expect(first).toContain(part);
    expect(page.indexOf('id="attention"')).toBeLessThan(page.indexOf('id="spokes"'));
    expect(page).toContain("can&#39;t list functions");
  });

  test("says so when nobody has to do anything", () => {
    const well = pageOf(report(hubFacts([spoke("blue")]), { blue: { objects: [] } }));
    expect(well).toContain("All is well. 1 of 1 spoke Ready, 0 of 0 applications well.");
    expect(well).toContain("nobody has to do anything");
  });

  test("does not say that all is well where it was not all looked at", () => {
    expect(pageOf(report(hubFacts([spoke("blue")])))).toContain(
      "All is well, as far as the hub knows. 1 of 1 spoke Ready, the spokes were not asked for applications.",
    );
    const unseen = hubFacts([spoke("blue")], { notSeen: ["can't list functions"] });
    expect(pageOf(report(unseen, { blue: { objects: [] } }))).toContain(
      "Nothing wrong was seen, but not everything could be looked at.",
    );
  });

  test("has a caption, and headers with a scope, for each table", () => {
    const tables = page.match(/<table[\s\S]*?<\/table>/g) ?? [];
    expect(tables.length).toBeGreaterThan(4);
    for (const each of tables) {
      expect(each).toMatch(/<caption>.+<\/caption>/);
      expect(each.match(/<th /g)?.length).toBe(each.match(/<th [^>]*scope="(col|row|rowgroup)"/g)?.length);
    }
  });

  test("loads and runs nothing but its own style and script, and asks nobody in a file", () => {
    const [, policy = ""] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
    const hash = (tag: string) => {
      const [, text = ""] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page) ?? [];
      return `&#39;sha256-${createHash("sha256").update(text).digest("base64")}&#39;`;
    };
    expect(policy).toContain("default-src &#39;none&#39;");
    expect(policy).toContain(`style-src ${hash("style")};`);
    expect(policy).toContain(`script-src ${hash("script")};`);
    expect(policy).toContain("connect-src &#39;none&#39;");
    expect(page).not.toMatch(/<[^>]+\s(style|on[a-z]+|src)=/);
    expect(page).not.toMatch(/<(img|link|iframe|object|form action)\b/);
  });

  test("keeps itself up to date only where it is served", () => {
    expect(page).toContain('data-refresh="0"');
    const served = pageOf(fleet, { refresh: 2, etag: '"1"', failure: "the context hub can't list spokes" });
    expect(served).toContain('data-refresh="2"');
    expect(served).toContain("connect-src &#39;self&#39;");
    expect(served).toContain("may be out of date: the context hub can&#39;t list spokes");
  });

  test("shows what a cluster says as text, whatever is in it", () => {
    const sly = `</td><script>alert(1)</script><img src=x onerror=alert(1)>" onfocus='alert(1)' \u0007`;
    const hostile = report(
      hubFacts(
        [
          spoke(
            sly,
            { environment: sly, tenant: sly, ring: sly, region: sly },
            { phase: sly, message: sly, conditions: [unready(sly)] },
          ),
        ],
        { fleet: sly, notSeen: [sly] },
      ),
      { [sly]: { objects: [app(sly, "b", { conditions: [unready(sly)], lastAppliedRevision: sly })] } },
      [{ name: sly, scope: undefined, made: ago(5), ends: undefined, use: sly }],
    );
    const shown = pageOf(hostile);
    expect(shown.match(/<script>/g)).toHaveLength(1);
    // Without its own script, and without what is safe in quotes, where every quote is escaped.
    const markup = shown.replaceAll(/<(style|script)>[\s\S]*?<\/\1>/g, "").replaceAll(/"[^"]*"/g, '""');
    expect(markup).not.toMatch(/<img|<script|<[^>]*\son[a-z]+=/i);
    expect(shown).not.toContain("\u0007");
    expect(shown).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  });

  test("of a thousand spokes with ten applications each is no more than 12 MB", () => {
    const spokes = Array.from({ length: 1000 }, (_, index) => spoke(`spoke-${index}`));
    const objects = Array.from({ length: 10 }, (_, index) => app(`app-${index}`, "b"));
    const looks = Object.fromEntries(spokes.map(({ metadata: { name } }) => [name, { objects }]));
    const large = pageOf(report(hubFacts(spokes), looks));
    expect(large.match(/<tr role="row" data-state="well"/g)).toHaveLength(1000);
    expect(large.length).toBeLessThan(12_000_000);
  });
});

test("a template escapes what is put into it, and only an address of the web becomes a link", () => {
  expect(markupOf(html`<p title="${`"'<>&`}">${html`<b>${"<"}</b>`}${undefined}${3}</p>`)).toBe(
    '<p title="&quot;&#39;&lt;&gt;&amp;"><b>&lt;</b>3</p>',
  );
  expect(markupOf(link("javascript:alert(1)", "<x>"))).toBe("&lt;x&gt;");
  expect(markupOf(link("https://a/?b=1&c", "x"))).toBe('<a href="https://a/?b=1&amp;c" rel="noreferrer">x</a>');
});
