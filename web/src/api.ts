// SPDX-License-Identifier: Apache-2.0
// The page's requests to the daemon: JSON, and streams of server-sent events that heal themselves.

/// The daemon's refusal, or that it cannot be reached (status 0), in words for people.
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

/// The header keeps pages of other sites from doing the same.
export async function post<T>(path: string, request: object): Promise<T> {
  const headers = { "content-type": "application/json", "x-popdist": "1" };
  return (await (await answerOf(path, { method: "POST", headers, body: JSON.stringify(request) })).json()) as T;
}

/// A call of controller.proto or pods.proto.
export function call<T>(method: string, request: object): Promise<T> {
  return post<T>(`/v1/${method}`, request);
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
  lost?: (why: ApiError) => void;
  refused?: (why: ApiError) => void; // it is not tried again
}

const LIVED_MS = 5000; // a stream that has lived so long is tried again at once
const MOST_PAUSE_MS = 10_000;
// A hidden page lets go of its connections: browsers have six for all pages of a server.
const HIDDEN_MS = 60_000;

/// A stream that is opened again whenever it breaks, until stop().
export class Stream {
  private abort = new AbortController();
  private stopped = false;
  private sleeps = false;
  private failures = 0;
  private wake: (() => void) | undefined;
  private hidden: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly handlers: StreamHandlers) {
    document.addEventListener("visibilitychange", this.seen);
    void this.run();
  }

  stop() {
    document.removeEventListener("visibilitychange", this.seen);
    clearTimeout(this.hidden);
    this.stopped = true;
    this.abort.abort();
    this.wake?.();
  }

  private seen = () => {
    clearTimeout(this.hidden);
    if (!document.hidden) {
      this.sleeps = false;
      this.wake?.();
      return;
    }
    this.hidden = setTimeout(() => {
      this.sleeps = true;
      this.abort.abort();
    }, HIDDEN_MS);
  };

  private async run() {
    while (!this.stopped) {
      const begin = Date.now();
      const why = await this.readOnce();
      if (this.stopped) return;
      if (why.status >= 400 && why.status < 500 && why.status !== 429) return this.handlers.refused?.(why);
      this.failures = Date.now() - begin > LIVED_MS ? 0 : this.failures + 1;
      const pause = Math.min(MOST_PAUSE_MS, 250 * 2 ** this.failures);
      if (!this.sleeps) this.handlers.lost?.(why);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        if (!this.sleeps) setTimeout(resolve, pause);
      });
    }
  }

  /// Reads until the stream ends; returns the reason.
  private async readOnce(): Promise<ApiError> {
    this.abort = new AbortController();
    const { path, opened, take } = this.handlers;
    try {
      await readStream(
        path(),
        this.abort,
        () => opened?.(),
        async (events) => {
          if (!this.stopped) await take(events);
        },
      );
    } catch (error) {
      if (error instanceof ApiError) return error;
    }
    return new ApiError(0, "the connection was lost");
  }
}
