// SPDX-License-Identifier: Apache-2.0
// The page's looks for a cluster that is empty and one in which much is wrong: light, dark and narrow, and accessible.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { checkAccess, checkWidth, goTo, NARROW, openPage, shoot, startBrowser, stopBrowser, WIDE } from "./browser.mjs";
import { brokenCluster, emptyCluster, normalCluster } from "./clusters.mjs";
import { startFakeDaemon } from "./fake_daemon.mjs";

const PAGES = { overview: "#/", jobs: "#/jobs", pods: "#/pods", hosts: "#/hosts", about: "#/about" };
const LOOKS = { light: { viewport: WIDE }, dark: { viewport: WIDE, dark: true }, narrow: { viewport: NARROW } };

before(startBrowser);
after(stopBrowser);

const BROKEN = {
  ...PAGES,
  host: "#/hosts/node4",
  waiting_job: "#/jobs/41",
  failed_job: "#/jobs/39",
  nothing: "#/nothing",
};
const USUAL = { overview: "#/", pods: "#/pods", job: "#/jobs/59" };

for (const [name, data, parts, looks] of [
  ["empty", emptyCluster(), PAGES, ["narrow"]],
  ["usual", normalCluster(), USUAL, ["light"]],
  ["broken", brokenCluster(), BROKEN, ["light", "narrow"]],
  ["broken in the dark", brokenCluster(), { overview: "#/", pods: "#/pods", failed_job: "#/jobs/39" }, ["dark"]],
]) {
  describe(`a cluster that is ${name}`, () => {
    let daemon;
    before(async () => (daemon = await startFakeDaemon(data)));
    after(() => daemon.stop());

    for (const look of looks) {
      test(`is for everybody, ${look}`, async () => {
        const { page, close } = await openPage(daemon.address, LOOKS[look]);
        for (const [part, hash] of Object.entries(parts)) {
          await goTo(page, daemon.address, hash);
          await shoot(page, `${name}-${look}-${part}`);
          await checkWidth(page, `${part}, ${look}`);
          await checkAccess(page, `${part}, ${look}`, look === "dark" ? ["color-contrast"] : []);
        }
        await close();
      });
    }
  });
}

describe("what is wrong", () => {
  let daemon;
  before(async () => (daemon = await startFakeDaemon(brokenCluster())));
  after(() => daemon.stop());

  test("is said first, the worst on top, with a link to it", async () => {
    const { page, close } = await openPage(daemon.address);
    await goTo(page, daemon.address, "#/");
    const problems = await page.locator(".problem").allTextContents();
    assert.match(problems[0], /the disk is full/);
    assert.ok(problems.some((text) => /Host node2 is down/.test(text)));
    assert.ok(problems.some((text) => /Machines m12, m13, m14, m15 are lost/.test(text)));
    assert.ok(problems.some((text) => /Partition p8 is in quarantine/.test(text)));
    assert.match(await page.title(), /^\(\d+\) Overview/);
    await page.getByRole("link", { name: "Host node2 is down" }).click();
    await page.waitForSelector("h1:text('node2')");
    await close();
  });

  test("is in the list of hosts", async () => {
    const { page, close } = await openPage(daemon.address);
    await goTo(page, daemon.address, "#/hosts");
    const row = page.getByRole("row").filter({ hasText: "node6" });
    assert.match(await row.textContent(), /it says that it has 100000 slots; popdistd counts 64/);
    await close();
  });

  test("is seen in the picture of the Pod", async () => {
    const { page, close } = await openPage(daemon.address);
    await goTo(page, daemon.address, "#/pods");
    assert.equal(await page.locator(".ipu").count(), 64);
    assert.equal(await page.locator(".ipu.owned").count(), 20);
    assert.equal(await page.locator(".ipu.bad .hatch").count(), 24);
    assert.equal(await page.locator(".ipu.off .hatch").count(), 4);
    await page.getByRole("button", { name: "p16" }).click();
    assert.equal(await page.locator(".ipu.chosen").count(), 16);
    assert.match(page.url(), /partition=p16/);
    assert.match(
      await page.locator(".ipu.chosen title").nth(5).textContent(),
      /IPU 5, machine m1 of host node1: partition p16, routing id 5, GCD 1, job 40/,
    );
    await page.waitForFunction(() => document.querySelector(".topology img")?.naturalWidth > 0);
    await page.getByRole("button", { name: "p16" }).click();
    assert.equal(await page.locator(".topology").count(), 0);
    await close();
  });

  test("numbers in the output of a job are drawn", async () => {
    const { page, close } = await openPage(daemon.address);
    await goTo(page, daemon.address, "#/jobs/39");
    const chart = page.locator(".chart");
    await chart.waitFor();
    assert.match(await chart.getAttribute("aria-label"), /^samples\/s: 39 values/);
    await page.getByRole("button", { name: "loss" }).click();
    assert.match(await page.locator(".chart").getAttribute("aria-label"), /^loss: 39 values/);
    assert.match(await page.locator("section[aria-label=Instances]").textContent(), /was killed by SIGSEGV/);
    await close();
  });
});
