// SPDX-License-Identifier: Apache-2.0
// A real Chromium with the page in it: what it says on its console, where it asks, and what axe-core finds.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(here, "../../web/package.json"));
const { chromium } = require("playwright-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 360, height: 740 };

let browser;

export async function startBrowser() {
  browser = await chromium.launch({
    executablePath: process.env.POP_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
}

export async function stopBrowser() {
  await browser?.close();
}

/// A page of the daemon at `address`. `seen` collects what must stay empty: errors, and requests to elsewhere.
export async function openPage(address, { viewport = WIDE, dark = false, certificate, may_fail = false } = {}) {
  const options = { viewport, colorScheme: dark ? "dark" : "light", reducedMotion: "reduce", ignoreHTTPSErrors: true };
  if (certificate) options.clientCertificates = [{ origin: address, ...certificate }];
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const seen = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(`${address}/`)) seen.push(`a request to ${request.url()}`);
  });
  page.on("pageerror", (error) => seen.push(String(error.stack)));
  page.on("console", (message) => {
    if (message.type() === "error" && !may_fail) seen.push(message.text());
  });
  const close = async () => {
    await context.close();
    assert.deepEqual(seen, []);
  };
  return { page, close };
}

/// Goes to a part of the page and waits until it is drawn.
export async function goTo(page, address, hash) {
  await page.goto(`${address}/${hash}`);
  await page.waitForSelector("main h1, main .empty");
  await page.waitForFunction(() => !document.querySelector(".loading"));
}

/// Checks accessibility by all rules, or by some.
export async function checkAccess(page, what, rules = []) {
  await page.evaluate(axe);
  const found = await page.evaluate(async (only) => {
    const result = await globalThis.axe.run(document, only.length ? { runOnly: only } : {});
    return result.violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.split("\n")[1] ?? ""}`),
    );
  }, rules);
  assert.deepEqual(found, [], what);
}

export async function checkWidth(page, what) {
  const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(needs <= has, `${what} needs ${needs} px and has ${has}`);
}

/// A picture for people to look at, where POP_PAGE_SHOTS says.
export async function shoot(page, name) {
  if (process.env.POP_PAGE_SHOTS) await page.screenshot({ path: path.join(process.env.POP_PAGE_SHOTS, `${name}.png`) });
}
