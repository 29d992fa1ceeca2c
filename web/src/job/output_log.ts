// SPDX-License-Identifier: Apache-2.0
// The last lines that a job has written, of all instances in the order in which they came.
import { signal } from "@preact/signals";

export interface Line {
  number: number; // from 0, over all lines
  instance: number; // -1: the launcher itself
  is_stderr: boolean;
  text: string;
}

export const MOST_LINES = 5000;
const MOST_CHARS = 2000; // per line

const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007|\u001b[@-_]/g;

function cleaned(text: string): string {
  const plain = text.includes("\u001b") ? text.replace(ESCAPES, "") : text;
  const shown = plain.replace(/\r$/, "");
  const last = shown.slice(shown.lastIndexOf("\r") + 1); // a progress bar as a terminal shows it
  return last.length > MOST_CHARS ? `${last.slice(0, MOST_CHARS)}…` : last;
}

class Pipe {
  readonly decoder = new TextDecoder();
  rest = "";
}

export class OutputLog {
  /// One more whenever lines have come, at most once for each picture of the screen.
  readonly version = signal(0);
  lines: Line[] = [];
  dropped = 0; // lines from the front
  readonly instances = new Set<number>();
  last_of = new Map<number, string>();
  private pipes = new Map<string, Pipe>();
  private count = 0;
  private announced = false;

  constructor(private readonly onLine: (line: Line) => void) {}

  push(instance: number, is_stderr: boolean, bytes: Uint8Array) {
    const key = `${instance}${is_stderr}`;
    let pipe = this.pipes.get(key);
    if (!pipe) this.pipes.set(key, (pipe = new Pipe()));
    const parts = (pipe.rest + pipe.decoder.decode(bytes, { stream: true })).split("\n");
    pipe.rest = parts.pop()!.slice(-MOST_CHARS);
    this.instances.add(instance);
    for (const part of parts) this.add(instance, is_stderr, cleaned(part));
    this.announce();
  }

  /// A line of the launcher's, or about what is missing.
  say(text: string) {
    this.add(-1, false, text);
    this.announce();
  }

  /// The parts so far of lines that are not ended yet.
  unfinished(): Line[] {
    const lines: Line[] = [];
    for (const [key, pipe] of this.pipes) {
      if (!pipe.rest) continue;
      lines.push({
        number: this.count + lines.length,
        instance: parseInt(key),
        is_stderr: key.endsWith("true"),
        text: cleaned(pipe.rest),
      });
    }
    return lines;
  }

  private add(instance: number, is_stderr: boolean, text: string) {
    const line = { number: this.count++, instance, is_stderr, text };
    this.lines.push(line);
    this.last_of.set(instance, text);
    if (this.lines.length > MOST_LINES * 1.2) {
      this.dropped += this.lines.length - MOST_LINES;
      this.lines = this.lines.slice(-MOST_LINES);
    }
    this.onLine(line);
  }

  private announce() {
    if (this.announced) return;
    this.announced = true;
    const tell = () => {
      this.announced = false;
      this.version.value++;
    };
    document.hidden ? setTimeout(tell, 250) : requestAnimationFrame(tell);
  }
}
