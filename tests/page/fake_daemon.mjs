// SPDX-License-Identifier: Apache-2.0
// A daemon that says what it is told to (clusters.mjs), for what takes a real one minutes or a real fault: hosts that are
// down, partitions in quarantine. It serves the page's files as popdistd/web/page has them.
import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const page = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../popdistd/web/page");
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

function isOver(data, id) {
  return data.jobs.some((each) => each.id === id && each.state === "JOB_ENDED");
}

function countsOf(data) {
  const counts = new Map();
  for (const { state, end } of data.jobs) counts.set(`${state} ${end}`, (counts.get(`${state} ${end}`) ?? 0) + 1);
  return {
    counts: [...counts].map(([key, jobs]) => ({
      state: key.split(" ")[0],
      end: key.split(" ")[1],
      jobs: String(jobs),
    })),
    waiting: data.waiting,
    troubled: data.troubled,
    revision: "500",
  };
}

function jobsOf(data, query) {
  const states = query.get("state")?.split(",");
  const ends = query.get("end")?.split(",");
  const text = query.get("text") ?? "";
  const fits = (each) =>
    (!states || states.includes(each.state)) &&
    (!ends || ends.includes(each.end)) &&
    JSON.stringify(each).includes(text);
  return {
    jobs: data.jobs.filter((each) => fits(each) && (!query.get("host") || each.hosts.includes(query.get("host")))),
    next_page_token: "",
    revision: "500",
  };
}

export async function startFakeDaemon(data, port = 0) {
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    const json = (value) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    const [, , kind, id, part] = url.pathname.split("/");
    if (url.pathname === "/v1/watch" || part === "records") {
      response.setHeader("content-type", "text/event-stream").write(": alive\n\n");
      for (const record of data.events[id] ?? [])
        response.write(`id: ${record.sequence}\ndata: ${JSON.stringify(record)}\n\n`);
      if (part === "records" && isOver(data, id)) response.end('event: end\ndata: {"code":0,"message":""}\n\n');
      return;
    }
    if (kind === "About") return json(data.about);
    if (kind === "counts") return json(countsOf(data));
    if (kind === "jobs" && id) return json(data.jobs.find((each) => each.id === id));
    if (kind === "jobs") return json(jobsOf(data, url.searchParams));
    if (part === "topology.svg")
      return response
        .setHeader("content-type", "image/svg+xml")
        .end(`<svg xmlns="http://www.w3.org/2000/svg" width="460" height="900"><title>${id}</title></svg>`);
    if (data[kind]) return json({ [kind]: data[kind], revision: "500" });
    const file = url.pathname === "/" ? "index.html" : path.basename(url.pathname);
    response.setHeader(
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
    );
    response
      .setHeader("content-type", TYPES[path.extname(file)] ?? "text/plain")
      .end(await readFile(path.join(page, file)).catch(() => ""));
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    stop: () => (server.closeAllConnections(), server.close()),
  };
}
