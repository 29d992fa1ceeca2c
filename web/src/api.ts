// SPDX-License-Identifier: Apache-2.0
// What the page asks of the daemon: JSON, and streams of server-sent events that heal themselves.

/// What the daemon has refused, or that it cannot be reached (status 0), in words for people.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function answerOf(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", redirect: "error", ...init });
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new ApiError(0, "popdistd does not answer");
  }
  if (response.ok) return response;
  let message = `HTTP ${response.status}`;
  try {
    message = ((await response.json()) as { message?: string }).message ?? message;
  } catch {
    // Not ours: a proxy's.
  }
  throw new ApiError(response.status, message);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await answerOf(path, { signal })).json()) as T;
}

/// A call of controller.proto or pods.proto. The header keeps pages of other sites from doing the same.
export async function call<T>(method: string, request: object): Promise<T> {
  const headers = { "content-type": "application/json", "x-popdist": "1" };
  return (await (
    await answerOf(`/v1/${method}`, { method: "POST", headers, body: JSON.stringify(request) })
  ).json()) as T;
}

export interface StreamEvent {
  id: string; // empty: none
  name: string;
  data: string;
}

// The daemon says ": alive" every 15 s.
const SILENT_MS = 40_000;

/// Reads one stream to its end, and gives each batch of events as it comes. Throws ApiError; an end is one of status 0.
async function readStream(
  path: string,
  abort: AbortController,
  opened: () => void,
  take: (events: StreamEvent[]) => void | Promise<void>,
) {
  const response = await answerOf(path, { signal: abort.signal, headers: { accept: "text/event-stream" } });
  opened();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const silence = setTimeout(() => abort.abort(), SILENT_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) throw new ApiError(0, "the connection was closed");
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop()!;
    const events: StreamEvent[] = [];
    for (const block of blocks) {
      const event: StreamEvent = { id: "", name: "", data: "" };
      for (const line of block.split("\n")) {
        if (line.startsWith("data: ")) event.data += line.slice(6);
        else if (line.startsWith("id: ")) event.id = line.slice(4);
        else if (line.startsWith("event: ")) event.name = line.slice(7);
      }
      if (event.data) events.push(event);
    }
    if (events.length) await take(events);
  }
}

export interface StreamHandlers {
  path: () => string; // asked anew for each connection
  take: (events: StreamEvent[]) => void | Promise<void>;
  opened?: () => void;
  lost?: (why: ApiError, retryInMs: number) => void;
  refused?: (why: ApiError) => void; // it is not tried again
}

/// A stream that is opened again whenever it breaks, until stop().
export class Stream {
  private abort = new AbortController();
  private stopped = false;
  private failures = 0;
  private wake: (() => void) | undefined;

  constructor(private readonly handlers: StreamHandlers) {
    void this.run();
  }

  stop() {
    this.stopped = true;
    this.abort.abort();
    this.wake?.();
  }

  retryNow() {
    this.wake?.();
  }

  private async run() {
    while (!this.stopped) {
      this.abort = new AbortController();
      let why: ApiError;
      try {
        await readStream(
          this.handlers.path(),
          this.abort,
          () => {
            this.failures = 0;
            this.handlers.opened?.();
          },
          async (events) => {
            if (!this.stopped) await this.handlers.take(events);
          },
        );
        continue;
      } catch (error) {
        why = error instanceof ApiError ? error : new ApiError(0, "the connection was lost");
      }
      if (this.stopped) return;
      if (why.status >= 400 && why.status < 500 && why.status !== 429) return this.handlers.refused?.(why);
      const pause = Math.min(10_000, 500 * 2 ** this.failures++);
      this.handlers.lost?.(why, pause);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, pause);
      });
    }
  }
}
