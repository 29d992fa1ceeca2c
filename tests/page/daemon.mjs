// SPDX-License-Identifier: Apache-2.0
// A popdistd of this build, with a store of its own, and a client of its JSON.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const bin = process.env.POP_BIN_DIR;

export class Daemon {
  #child;
  #agent;

  /// `dev`: with TLS and a host; else without both, for loopback alone. `in_memory`: no disk is waited for.
  static async start({ dev = false, in_memory = false } = {}) {
    const daemon = new Daemon();
    daemon.dev = dev;
    daemon.state = await mkdtemp(
      path.join(in_memory && existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir(), "pop_page_"),
    );
    await daemon.startAgain("127.0.0.1:0", "127.0.0.1:0");
    if (dev) {
      const read = (name) => readFile(path.join(daemon.state, "tls", name));
      const user = os.userInfo().username;
      daemon.certificate = {
        certPath: path.join(daemon.state, "tls", `user-${user}.pem`),
        keyPath: path.join(daemon.state, "tls", `user-${user}-key.pem`),
      };
      daemon.#agent = new https.Agent({
        keepAlive: true,
        ca: await read("ca.pem"),
        cert: await readFile(daemon.certificate.certPath),
        key: await readFile(daemon.certificate.keyPath),
      });
    } else {
      daemon.#agent = new http.Agent({ keepAlive: true, maxSockets: 48 });
    }
    return daemon;
  }

  /// With the same store, at the same places.
  async startAgain(listen = this.listen, at = this.at) {
    const words = ["--listen", listen, "--http", at, "--state", this.state, this.dev ? "--dev" : "--insecure"];
    this.#child = spawn(path.join(bin, "popdistd"), words, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    const places = await new Promise((resolve, reject) => {
      this.#child.on("exit", () => reject(new Error(`popdistd has ended: ${said}`)));
      this.#child.stderr.on("data", (bytes) => {
        said += bytes;
        const match = /listens at (\S+) port (\d+), for HTTP at (\S+) port (\d+)/.exec(said);
        if (match) resolve(match);
      });
    });
    this.listen = `${places[1]}:${places[2]}`;
    this.at = `${places[3]}:${places[4]}`;
    this.address = `${this.dev ? "https" : "http"}://localhost:${places[4]}`;
  }

  async end(signal) {
    const ended = new Promise((resolve) => this.#child.on("exit", resolve));
    this.#child.kill(signal);
    await ended;
  }

  async stop() {
    await this.end("SIGTERM");
    this.#agent.destroy();
    await rm(this.state, { recursive: true, force: true });
  }

  ask(method, target, body) {
    const { request } = this.dev ? https : http;
    const headers = body ? { "content-type": "application/json" } : {};
    return new Promise((resolve, reject) => {
      const asked = request(this.address + target, { method, headers, agent: this.#agent }, (response) => {
        let text = "";
        response.on("data", (bytes) => (text += bytes));
        response.on("end", () => (response.statusCode < 300 ? resolve(JSON.parse(text)) : reject(new Error(text))));
      });
      asked.on("error", reject);
      asked.end(body && JSON.stringify(body));
    });
  }

  call(name, body) {
    return this.ask("POST", `/v1/${name}`, body);
  }

  async submit(script, more = {}, spec = {}) {
    const programs = [{ words: ["sh", "-c", script], num_instances: 1 }];
    return (await this.call("Submit", { spec: { programs, needs_pods: false, ...spec }, ...more })).job.id;
  }

  /// Many calls at once, over a few connections on which none waits for the answer before. Without TLS.
  async callMany(name, bodies, connections = 24) {
    const port = Number(this.at.split(":")[1]);
    const one = (own) =>
      new Promise((resolve, reject) => {
        let answers = 0;
        let rest = "";
        const socket = net.connect(port, "127.0.0.1");
        socket.on("error", reject);
        socket.on("data", (bytes) => {
          rest += bytes.toString("latin1");
          const heads = rest.split("HTTP/1.1 200 OK");
          answers += heads.length - 1;
          rest = heads.at(-1).slice(-20);
          if (/HTTP\/1\.1 [345]/.test(rest)) reject(new Error(rest));
          if (answers === own.length) (socket.destroy(), resolve());
        });
        for (const body of own) {
          const json = JSON.stringify(body);
          const head = `POST /v1/${name} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
          socket.write(`${head}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
        }
      });
    const parts = Array.from({ length: connections }, (_, n) => bodies.filter((_, at) => at % connections === n));
    await Promise.all(parts.filter((part) => part.length).map(one));
  }

  async waitFor(what, target, fits) {
    for (let tries = 0; tries < 200; ++tries) {
      const answer = await this.ask("GET", target);
      if (fits(answer)) return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${what} did not come`);
  }
}
