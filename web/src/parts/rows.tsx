// SPDX-License-Identifier: Apache-2.0
// A list of which only the rows that can be seen are there, so that ten thousand of them cost no more than forty.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const BEYOND = 8; // rows above and below what is seen

export function Rows<T>({
  items,
  height,
  keyOf,
  row,
  atEnd,
}: {
  items: readonly T[];
  height: number;
  keyOf: (item: T) => string;
  row: (item: T, index: number) => ComponentChildren;
  atEnd?: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, last: 40 });
  const look = () => {
    if (!box.current) return;
    const top = -box.current.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / height) - BEYOND);
    const last = Math.ceil((top + innerHeight) / height) + BEYOND;
    setSeen((before) => (before.first === first && before.last === last ? before : { first, last }));
  };
  useEffect(() => {
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [height]);
  useEffect(() => {
    if (seen.last >= items.length - 20) atEnd?.();
  }, [seen.last, items.length]);
  const first = Math.min(seen.first, items.length);
  const shown = items.slice(first, seen.last);
  return (
    <div ref={box} class="rows" role="rowgroup" style={{ height: `${items.length * height}px` }}>
      {shown.map((item, index) => (
        <div
          key={keyOf(item)}
          class="row-place"
          role="presentation"
          style={{ top: `${(first + index) * height}px`, height: `${height}px` }}
        >
          {row(item, first + index)}
        </div>
      ))}
    </div>
  );
}
