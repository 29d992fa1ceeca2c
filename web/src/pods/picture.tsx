// SPDX-License-Identifier: Apache-2.0
// An IPU-Link domain as a picture: its machines side by side, or one above the other where there is little room; their
// IPUs and the links between them, partitions as colours.
import { useState } from "preact/hooks";
import { isNarrow } from "../parts/job_rows";
import { lookOf, textOf, type Ild, type Ipu, type Link } from "./model";

const SIZE = 22; // an IPU's
const STEP = 29; // from one IPU to the next of its machine
const MACHINE = 66; // from one machine to the next
const EDGE = 8;

interface Place {
  x: number;
  y: number;
}

/// The middle of an IPU. Lying, the lowest machine is at the left; standing, at the bottom.
function placeOf(ipu: Ipu, ild: Ild, standing: boolean): Place {
  const machine = ipu.row >> 1;
  const along = EDGE + machine * MACHINE + (ipu.row & 1) * STEP + SIZE / 2 + 3;
  const across = EDGE + ipu.column * STEP + SIZE / 2 + 3;
  if (standing) return { x: across + 44, y: ild.machines * MACHINE - along + EDGE };
  return { x: along, y: STEP + 2 * EDGE + SIZE / 2 - across + EDGE + 6 };
}

function LinkLine({
  link,
  ild,
  standing,
  colour,
}: {
  link: Link;
  ild: Ild;
  standing: boolean;
  colour: (id: string) => number;
}) {
  const from = placeOf(link.from, ild, standing);
  const to = placeOf(link.to, ild, standing);
  const same = link.from.partition && link.from.partition === link.to.partition;
  const look = same ? `link p${colour(link.from.partition!.id)}` : "link";
  if (!link.loop) return <line class={look} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
  const out = SIZE / 2 + 5;
  const side = link.from.column ? 1 : -1;
  const d = standing
    ? `M${from.x + (side * SIZE) / 2} ${from.y}h${side * 5}V${to.y}h${-side * 5}`
    : `M${from.x} ${from.y - (side * SIZE) / 2}v${-side * (out - SIZE / 2)}H${to.x}v${side * (out - SIZE / 2)}`;
  return <path class={`${look} loop`} d={d} />;
}

export function PodPicture({
  ild,
  label,
  colour,
  chosen,
  choose,
}: {
  ild: Ild;
  label: string;
  colour: (id: string) => number;
  chosen: string;
  choose: (partition: string) => void;
}) {
  const [over, setOver] = useState<Ipu | undefined>(undefined);
  const standing = isNarrow.value;
  const along = ild.machines * MACHINE + 2 * EDGE;
  const across = 2 * STEP + 2 * EDGE + 6;
  const width = standing ? across + 48 : along;
  const height = standing ? along : across + 12;
  const machines = Array.from({ length: ild.machines }, (_, position) => ild.ipus[position * 4]!.agent);
  return (
    <figure class="pod">
      <div class="pod-scroll">
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label={label}
          class={chosen ? "has-chosen" : ""}
        >
          {machines.map((agent, position) => {
            const at = standing
              ? { x: 44 + 2, y: (ild.machines - 1 - position) * MACHINE + EDGE + 2 }
              : { x: position * MACHINE + EDGE - 1, y: 9 };
            const look = !agent ? "missing" : agent.lost ? "lost" : agent.drained ? "drained" : "";
            return (
              <g key={position}>
                <rect
                  class={`machine ${look}`}
                  x={at.x}
                  y={at.y}
                  width={STEP + SIZE + 8}
                  height={STEP + SIZE + 10}
                  rx="7"
                />
                <text
                  class="machine-name"
                  x={standing ? 38 : at.x + (STEP + SIZE + 8) / 2}
                  y={standing ? at.y + 34 : height - 5}
                  text-anchor={standing ? "end" : "middle"}
                >
                  {agent ? shortened(agent.id) : "–"}
                </text>
              </g>
            );
          })}
          {ild.links.map((link) => (
            <LinkLine
              key={`${link.from.number}-${link.to.number}-${link.loop}`}
              link={link}
              ild={ild}
              standing={standing}
              colour={colour}
            />
          ))}
          {ild.ipus.map((ipu) => {
            const at = placeOf(ipu, ild, standing);
            const look = lookOf(ipu);
            const id = ipu.partition?.id ?? "";
            const classes = ["ipu", look, id ? `p${colour(id)}` : "", id && id === chosen ? "chosen" : ""];
            return (
              <g
                key={ipu.number}
                class={classes.join(" ")}
                onMouseEnter={() => setOver(ipu)}
                onMouseLeave={() => setOver(undefined)}
                onClick={() => (setOver(ipu), choose(id === chosen ? "" : id))}
              >
                <title>{textOf(ipu)}</title>
                <rect x={at.x - SIZE / 2} y={at.y - SIZE / 2} width={SIZE} height={SIZE} rx="4" />
                {(look === "bad" || look === "off") && (
                  <rect class="hatch" x={at.x - SIZE / 2} y={at.y - SIZE / 2} width={SIZE} height={SIZE} rx="4" />
                )}
                <text x={at.x} y={at.y + 3.4} text-anchor="middle">
                  {ipu.number}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption class="muted">{over ? textOf(over) : "Point at an IPU, or choose a partition below."}</figcaption>
    </figure>
  );
}

/// The hatching patterns of a page's pictures.
export function Patterns() {
  return (
    <svg class="patterns" aria-hidden="true">
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="hatch-line" width="2.4" height="6" />
      </pattern>
    </svg>
  );
}

function shortened(name: string): string {
  return name.length <= 7 ? name : `…${name.slice(-6)}`;
}
