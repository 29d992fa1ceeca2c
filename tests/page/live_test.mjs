// SPDX-License-Identifier: Apache-2.0
// The page of a popdistd with a host: what happens is seen as it happens.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { checkAccess, checkWidth, goTo, NARROW, openPage, shoot, startBrowser, stopBrowser } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

const TICKER = 'n=0; while :; do n=$((n+1)); echo "tick $n at $(date +%s%3N)"; sleep 0.1; done';

describe("a cluster with a host", () => {
  let daemon;
  before(async () => {
    await startBrowser();
    daemon = await Daemon.start({ dev: true });
    await daemon.waitFor("the host", "/v1/hosts", ({ hosts }) => hosts.length === 1 && hosts[0].state === "HOST_UP");
  });
  after(async () => {
    await stopBrowser();
    await daemon.stop();
  });

  const open = (options = {}) => openPage(daemon.address, { certificate: daemon.certificate, ...options });

  test("shows jobs that come and go", async () => {
    const { page, close } = await open();
    await goTo(page, daemon.address, "#/jobs");
    const id = await daemon.submit("echo hello; exit 3", { name: "comes-and-goes" });
    await page.getByText("comes-and-goes").waitFor();
    await page.locator(".job-row", { hasText: "comes-and-goes" }).getByText("failed").waitFor();
    await page.getByRole("button", { name: /^Succeeded/ }).click();
    await page.getByText("comes-and-goes").waitFor({ state: "detached" });
    assert.match(page.url(), /show=succeeded/);
    await goTo(page, daemon.address, "#/jobs/comes-and-goes");
    await page.locator(".output-lines").getByText("hello").waitFor();
    await page.locator(".facts").getByText("3", { exact: true }).waitFor();
    await page.locator(".crumb").click();
    await page.waitForSelector(`a[href="#/jobs/${id}"]`);
    await close();
  });

  test("shows a line within a second of its being written", async () => {
    const id = await daemon.submit(TICKER, { name: "ticks" });
    const { page, close } = await open();
    await goTo(page, daemon.address, `#/jobs/${id}`);
    await page.locator(".line", { hasText: "tick" }).first().waitFor();
    const late = await page.evaluate(async () => {
      const delays = [];
      const newest = () => [...document.querySelectorAll(".line")].at(-1)?.textContent ?? "";
      for (let before = newest(); delays.length < 10;) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        if (newest() === before) continue;
        before = newest();
        delays.push(Date.now() - Number(/at (\d+)/.exec(before)?.[1]));
      }
      return Math.max(...delays);
    });
    console.log(`# a line is seen after at most ${late} ms`);
    assert.ok(late < 1000, `a line came ${late} ms late`);
    await shoot(page, "live-job");
    await checkAccess(page, "a job that runs");
    await close();
  });

  test("pauses, searches and follows its output", async () => {
    const { page, close } = await open();
    await goTo(page, daemon.address, "#/jobs/ticks");
    const line = page.locator(".line", { hasText: "tick" });
    await line.first().waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    const before = await line.last().textContent();
    await page.getByText(/paused, ([3-9]|\d\d+) newer/).waitFor();
    assert.equal(await line.last().textContent(), before);
    await page.keyboard.press("/");
    await page.keyboard.type("tick 3 ");
    await page.getByText(/of 1$/).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".line.current mark").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("button", { name: "Follow", pressed: false }).click();
    await page.waitForFunction((old) => [...document.querySelectorAll(".line")].at(-1)?.textContent !== old, before);
    await close();
  });

  test("asks before it cancels", async () => {
    const { page, close } = await open();
    await goTo(page, daemon.address, "#/jobs/ticks");
    await page.getByRole("button", { name: "Cancel…" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await checkAccess(page, "the question");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator(".badge", { hasText: "running" }).first().waitFor();
    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByLabel(/Reason/).fill("seen enough");
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await page.locator(".badge", { hasText: "cancelled" }).first().waitFor();
    await page.locator(".notice", { hasText: "seen enough" }).waitFor();
    await close();
  });

  test("draws the partition that a job has", async () => {
    const partition = {
      name: Buffer.from("p8").toString("base64"),
      server_host: Buffer.from("localhost").toString("base64"),
      server_port: Number(daemon.listen.split(":")[1]),
    };
    const { page, close } = await open();
    await goTo(page, daemon.address, "#/pods");
    await page.getByText("There are no partitions").waitFor();
    const id = await daemon.submit("sleep 60", {}, { needs_pods: true, num_replicas: 8, partition });
    await page.waitForFunction(() => document.querySelectorAll(".ipu.owned").length === 8);
    await page
      .locator("table")
      .getByRole("link", { name: `job ${id}` })
      .waitFor();
    await page.getByRole("button", { name: "p8" }).click();
    await page.waitForFunction(() => document.querySelector(".topology img")?.naturalWidth > 0);
    await shoot(page, "live-pods");
    await daemon.call("Cancel", { job: { id } });
    await page.waitForFunction(() => document.querySelectorAll(".ipu.owned").length === 0);
    await close();
  });

  test("goes everywhere by keys", async () => {
    const { page, close } = await open();
    await goTo(page, daemon.address, "#/");
    for (const [key, title] of [
      ["j", "Jobs"],
      ["p", "Pods"],
      ["h", "Hosts"],
    ]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "To the content" });
    assert.ok(await skip.evaluate((link) => link === document.activeElement && link.getBoundingClientRect().top >= 0));
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.querySelector("main").contains(document.activeElement)));
    await close();
  });

  test("says that the connection is lost, and heals by itself", async () => {
    const { page, close } = await open({ may_fail: true });
    await goTo(page, daemon.address, "#/jobs");
    await page.locator(".side .live-state.live").waitFor();
    await daemon.end("SIGTERM");
    await page.getByRole("alert").getByText("The connection to popdistd was lost").waitFor();
    await daemon.startAgain();
    await page.locator(".side .live-state.live").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    await daemon.submit("true", { name: "after-the-break", held: true });
    await page.getByText("after-the-break").waitFor();
    await close();
  });

  test("reads a list again that could not be read when the connection was lost", async () => {
    const { page, close } = await open({ may_fail: true });
    const jobs = "**/v1/jobs?*";
    await page.route(jobs, (route) => route.abort());
    await goTo(page, daemon.address, "#/jobs");
    await page.locator(".side .live-state.live").waitFor();
    await daemon.end("SIGTERM");
    await page.getByRole("alert").getByText("The connection to popdistd was lost").waitFor();
    await page.unroute(jobs);
    await daemon.startAgain();
    await page.locator(".side .live-state.live").waitFor();
    await daemon.submit("true", { name: "after-a-lost-list", held: true });
    await page.getByText("after-a-lost-list").waitFor();
    await close();
  });

  test("keeps a job that came while an older list was under way", async () => {
    const { page, close } = await open();
    let deliver;
    const delivered = new Promise((resolve) => (deliver = resolve));
    await page.route("**/v1/jobs?*", async (route) => {
      const response = await route.fetch();
      await delivered;
      await route.fulfill({ response });
    });
    const asked = page.waitForRequest("**/v1/jobs?*");
    await page.goto(`${daemon.address}/#/jobs`);
    await asked;
    await page.locator(".side .live-state.live").waitFor();
    const heard = page.waitForRequest("**/v1/counts"); // The page counts anew once it has heard of a change.
    await daemon.submit("true", { name: "came-meanwhile", held: true });
    await heard;
    deliver();
    await page.getByText("comes-and-goes").waitFor();
    await page.getByText("came-meanwhile").waitFor();
    await close();
  });

  test("says what to do without a certificate", async () => {
    const { page, close } = await open({ certificate: undefined, may_fail: true });
    await page.goto(daemon.address);
    await page.getByRole("heading", { name: "popdistd does not know who you are" }).waitFor();
    await page.getByText("openssl pkcs12").waitFor();
    await checkAccess(page, "without a certificate");
    await close();
  });

  test("logs in by a token and out again, by keys alone", async () => {
    const { secret, token } = await daemon.call("CreateToken", { scope: "ROLE_VIEWER" });
    const { page, close } = await open({ certificate: undefined, may_fail: true, viewport: NARROW });
    await page.goto(`${daemon.address}/#/hosts`);
    const box = page.getByLabel("Token");
    await box.focus();
    await page.keyboard.type("pop_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("token").waitFor();
    assert.equal(await box.getAttribute("aria-invalid"), "true");
    await checkAccess(page, "a wrong token");
    await checkWidth(page, "a wrong token");
    await page.keyboard.type(`${secret} `);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    assert.ok(await page.evaluate(() => document.activeElement.id === "main"));
    await shoot(page, "logged-in");
    await checkAccess(page, "logged in");
    await checkWidth(page, "logged in");
    await page.reload();
    await page.getByRole("button", { name: "Log out" }).focus();
    await page.keyboard.press("Enter");
    await box.waitFor();
    assert.equal(await page.getByRole("button", { name: "Log out" }).count(), 0);

    await box.fill(secret);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    await daemon.call("RemoveToken", { id: token.id });
    await box.waitFor();
    await shoot(page, "logged-out");
    await close();
  });
});
