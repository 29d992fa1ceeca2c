// SPDX-License-Identifier: Apache-2.0
// A job's output, as it comes: search, pause, follow. Only the lines that can be seen are there.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { number } from "../format";
import { Icon } from "../parts/icons";
import { MOST_LINES, type Line } from "./output_log";
import type { JobRecords } from "./records";

const LINE_HEIGHT = 19;
const BEYOND = 10;

function Marked({ text, wanted }: { text: string; wanted: string }) {
  if (!wanted) return <>{text}</>;
  const parts = [];
  const low = text.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return <>{parts.length ? [...parts, text.slice(from)] : text}</>;
}

export function Output({ id, records }: { id: string; records: JobRecords }) {
  const log = records.output;
  const version = log.version.value;
  const [instance, setInstance] = useState("");
  const [text, setText] = useState("");
  const [frozen, setFrozen] = useState<{ lines: Line[]; end: number } | undefined>(undefined);
  const [follows, setFollows] = useState(true);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const [match, setMatch] = useState(-1);
  const box = useRef<HTMLDivElement>(null);
  const wanted = text.toLowerCase();

  const all = frozen ? frozen.lines : log.lines;
  const lines = useMemo(() => {
    const shown = frozen ? all : [...all, ...log.unfinished()];
    return instance === "" ? shown : shown.filter((line) => line.instance === Number(instance));
  }, [version, frozen, instance]);
  const matches = useMemo(
    () => (wanted ? lines.flatMap((line, index) => (line.text.toLowerCase().includes(wanted) ? [index] : [])) : []),
    [lines, wanted],
  );
  const newer = frozen ? log.dropped + log.lines.length - frozen.end : 0;

  useEffect(() => {
    if (follows && !frozen && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, follows, frozen]);
  useEffect(() => {
    const observer = new ResizeObserver(() => setHeight(box.current?.clientHeight ?? 400));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  const scrolled = () => {
    const element = box.current!;
    setTop(element.scrollTop);
    const at_end = element.scrollHeight - element.scrollTop - element.clientHeight < 2 * LINE_HEIGHT;
    if (!at_end && follows && element.scrollTop < top) setFollows(false);
    if (at_end && !follows && element.scrollTop > top) setFollows(true);
  };
  const goTo = (step: number) => {
    if (!matches.length) return;
    const next = match < 0 ? (step > 0 ? 0 : matches.length - 1) : (match + step + matches.length) % matches.length;
    setMatch(next);
    setFollows(false);
    box.current!.scrollTop = Math.max(0, matches[next]! * LINE_HEIGHT - height / 2);
  };
  const pause = () =>
    setFrozen(frozen ? undefined : { lines: [...log.lines, ...log.unfinished()], end: log.dropped + log.lines.length });
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter") (event.preventDefault(), goTo(event.shiftKey ? -1 : 1));
    if (event.key === "Escape") (setText(""), setMatch(-1));
  };

  const first = Math.max(0, Math.floor(top / LINE_HEIGHT) - BEYOND);
  const seen = lines.slice(first, Math.ceil((top + height) / LINE_HEIGHT) + BEYOND);
  const many = log.instances.size > 1;
  const state = records.state.value;
  const current = match >= 0 ? matches[match] : undefined;
  return (
    <section class="card flush output" aria-label="Output">
      <header class="output-head">
        <h2>Output</h2>
        {frozen ? (
          <span class="live-state paused">paused{newer > 0 ? `, ${number(newer)} newer` : ""}</span>
        ) : (
          <span class={`live-state ${state}`}>
            {state === "over" ? "complete" : state === "lost" ? "connection lost, trying again" : state}
          </span>
        )}
        <span class="grow" />
        {many && (
          <label>
            <span class="visually-hidden">Instance</span>
            <select value={instance} onChange={(event) => setInstance(event.currentTarget.value)}>
              <option value="">all instances</option>
              {[...log.instances]
                .sort((a, b) => a - b)
                .map((each) => (
                  <option key={each} value={String(each)}>
                    instance {each}
                  </option>
                ))}
            </select>
          </label>
        )}
        <label class="search">
          <Icon name="search" />
          <span class="visually-hidden">Search in the output</span>
          <input
            type="search"
            data-search
            placeholder="Search"
            value={text}
            onInput={(event) => (setText(event.currentTarget.value), setMatch(-1))}
            onKeyDown={keys as never}
          />
        </label>
        {wanted && (
          <span class="match-buttons">
            <span class="muted" role="status">
              {matches.length ? `${match + 1 || "–"} of ${number(matches.length)}` : "none"}
            </span>
            <button type="button" class="button small" onClick={() => goTo(-1)} aria-label="Match before">
              <Icon name="up" />
            </button>
            <button type="button" class="button small" onClick={() => goTo(1)} aria-label="Next match">
              <Icon name="next" />
            </button>
          </span>
        )}
        <button type="button" class="button small" aria-pressed={frozen !== undefined} onClick={pause}>
          <Icon name={frozen ? "play" : "pause"} /> {frozen ? "Go on" : "Pause"}
        </button>
        <button type="button" class="button small" aria-pressed={follows} onClick={() => setFollows(!follows)}>
          <Icon name="down" /> Follow
        </button>
        <a
          class="button small"
          href={`/v1/jobs/${id}/log`}
          download={`job-${id}.log`}
          aria-label="Download all of the output"
          title="Download all of it"
        >
          <Icon name="file" />
        </a>
      </header>
      {records.refused.value && <p class="notice warn">{records.refused.value}</p>}
      {log.dropped > 0 && (
        <p class="output-note muted">
          The last {number(MOST_LINES)} lines or so; {number(log.dropped)} before them are in the file.
        </p>
      )}
      <div
        class="output-lines"
        ref={box}
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Lines of output"
      >
        {lines.length === 0 && (
          <p class="muted output-none">
            {state === "over" ? "It has written nothing." : "Nothing has been written yet."}
          </p>
        )}
        <div style={{ height: `${lines.length * LINE_HEIGHT}px` }}>
          <div class="output-seen" style={{ transform: `translateY(${first * LINE_HEIGHT}px)` }}>
            {seen.map((line, index) => (
              <div
                key={line.number}
                class={`line ${line.is_stderr ? "stderr" : ""} ${line.instance < 0 ? "own" : ""} ${first + index === current ? "current" : ""}`}
              >
                {many && (
                  <span class={`who i${Math.max(0, line.instance) % 8}`}>
                    {line.instance < 0 ? "" : `[${line.instance}]`}
                  </span>
                )}
                <Marked text={line.text} wanted={wanted} />
              </div>
            ))}
          </div>
        </div>
      </div>
    </section>
  );
}
