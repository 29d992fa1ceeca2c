// SPDX-License-Identifier: Apache-2.0
// Draws a schedule from its simulated times, after the pictures of TensorFlow's documentation for IPUs: a row
// for each IPU, forwards in blue, backwards in red, the update in yellow, a dashed line at each sync, braces
// over the phases, arrows along one micro-batch.
#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/svg_text.h"
#include "popdist/schedule.hpp"

namespace popdist::train {
namespace {

using pop::svg_text::Point;
using pop::svg_text::Tenths;

constexpr Tenths kLeft = 620, kRight = 200, kRow = 340, kGap = 100, kLetter = 68;
constexpr Tenths kMostUnit = 300;  // for the shortest action: short schedules are not blown up

constexpr const char* kStyle =
    "<style>text{font-family:Helvetica,Arial,sans-serif;font-size:12px;fill:#263238}"
    ".title{font-size:15px;font-weight:bold}.small{font-size:11px;fill:#546e7a}.mid{text-anchor:middle}"
    ".end{text-anchor:end}.on{text-anchor:middle;font-size:11px;fill:#fff}.dark{fill:#263238}"
    ".back{fill:#fff}.lane{fill:#f4f6f8}.F{fill:#3b7dd8}.B{fill:#d64541}.R{fill:#8e6cc0}.U{fill:#f5c542}"
    ".m0{fill:#3b7dd8}.m1{fill:#d64541}.m2{fill:#2e9e6b}.m3{fill:#d98a1f}.m4{fill:#8e6cc0}.m5{fill:#16939e}"
    ".m6{fill:#c2478f}.m7{fill:#6d7f8b}.sync{stroke:#90a4ae;stroke-dasharray:3 3}"
    ".brace{fill:none;stroke:#546e7a}.way{fill:none;stroke:#1b2429;stroke-width:1.6;marker-end:url(#tip)}"
    ".axis{stroke:#546e7a;marker-end:url(#tip)}.followed{fill:none;stroke:#1b2429;stroke-width:2}</style>\n"
    "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"5.5\" "
    "markerHeight=\"5.5\" "
    "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#1b2429\"/></marker></defs>\n";

std::string percent(double part) {
  return std::to_string(std::lround(100 * part)) + " %";
}

class Drawing {
 public:
  Drawing(const Schedule& schedule, const Simulation& simulation, const SvgOptions& options)
      : schedule_(schedule), simulation_(simulation), options_(options) {
    SimulatedTime shortest = simulation.total;
    for (const TimedAction& timed : simulation.actions) {
      if (timed.end > timed.start) shortest = std::min(shortest, timed.end - timed.start);
    }
    const Tenths most = Tenths{10} * std::max(options.most_width_px, 200) - kLeft - kRight;
    const double total = static_cast<double>(std::max<std::int64_t>(simulation.total.count(), 1));
    const double natural =
        total / static_cast<double>(std::max<std::int64_t>(shortest.count(), 1)) * kMostUnit;
    time_width_ = std::min(most, static_cast<Tenths>(std::min(natural, 1e9)));
    tenths_per_ps_ = static_cast<double>(time_width_) / total;
  }

  std::string text() const {
    const Tenths width = std::max<Tenths>(kLeft + time_width_ + kRight, 5600);
    const Tenths height = bottom() + 640;
    std::string body = pop::svg_text::rectangle({0, 0}, width, height, "back");
    body += pop::svg_text::words({kLeft, 220}, "title", options_.title);
    body += lanes() + syncs() + actions() + ways() + phases() + axis() + legend();
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + pop::svg_text::px(width) + "\" height=\"" +
           pop::svg_text::px(height) + "\" viewBox=\"0 0 " + pop::svg_text::px(width) + " " +
           pop::svg_text::px(height) + "\">\n" + kStyle + body + "</svg>\n";
  }

 private:
  Tenths top() const { return options_.title.empty() ? 560 : 840; }
  Tenths rowTop(int ipu) const { return top() + ipu * (kRow + kGap); }
  Tenths bottom() const { return rowTop(schedule_.ipus()) - kGap; }
  Tenths at(SimulatedTime time) const {
    return kLeft + std::llround(static_cast<double>(time.count()) * tenths_per_ps_);
  }

  std::string lanes() const {
    std::string text;
    for (int ipu = 0; ipu < schedule_.ipus(); ++ipu) {
      text += pop::svg_text::rectangle({kLeft, rowTop(ipu)}, time_width_, kRow, "lane");
      text += pop::svg_text::words({kLeft - 120, rowTop(ipu) + kRow / 2 + 40}, "end",
                                   "IPU " + std::to_string(ipu));
    }
    return text;
  }

  std::string syncs() const {
    std::string text;
    for (const SimulatedTime sync : simulation_.syncs)
      text += pop::svg_text::line({at(sync), top() - 60}, {at(sync), bottom() + 60}, "sync");
    return text;
  }

  std::string label(const Action& action) const {
    if (action.stage < 0 || options_.stage_names.empty()) return textOf(action);
    return options_.stage_names[static_cast<std::size_t>(action.stage) % options_.stage_names.size()];
  }

  std::string colour(const Action& action) const {
    if (options_.colour_by_micro_batch && action.micro_batch >= 0)
      return "m" + std::to_string(action.micro_batch % 8);
    return textOf(action).substr(0, 1);
  }

  std::string actions() const {
    std::string text;
    for (const TimedAction& timed : simulation_.actions) {
      const Tenths left = at(timed.start) + 5;
      const Tenths width = at(timed.end) - at(timed.start) - 10;
      if (width <= 0) continue;
      const Tenths row = rowTop(timed.action.ipu);
      text += pop::svg_text::rectangle({left, row}, width, kRow, colour(timed.action), " rx=\"2\"");
      if (options_.followed == timed.action.micro_batch)
        text += pop::svg_text::rectangle({left, row}, width, kRow, "followed", " rx=\"2\"");
      const std::string on = label(timed.action);
      if (static_cast<Tenths>(on.size()) * kLetter + 20 <= width)
        text += pop::svg_text::words({left + width / 2, row + kRow / 2 + 40},
                                     timed.action.kind == ActionKind::kUpdate ? "on dark" : "on", on);
    }
    return text;
  }

  // From each action of the followed micro-batch to those of the next timestep that has one.
  std::string ways() const {
    std::vector<const TimedAction*> before, now;
    std::string text;
    for (const TimedAction& timed : simulation_.actions) {
      if (timed.action.micro_batch != options_.followed || timed.action.kind == ActionKind::kUpdate) continue;
      if (!now.empty() && now.front()->action.timestep != timed.action.timestep) {
        text += waysBetween(before, now);
        before = std::move(now);
        now.clear();
      }
      if (timed.action.kind != ActionKind::kRecompute) now.push_back(&timed);
    }
    return text + waysBetween(before, now);
  }

  std::string waysBetween(const std::vector<const TimedAction*>& from,
                          const std::vector<const TimedAction*>& to) const {
    std::string text;
    for (const TimedAction* a : from) {
      for (const TimedAction* b : to) {
        if (a->action.ipu != b->action.ipu) text += wayBetween(*a, *b);
      }
    }
    return text;
  }

  // From the edge that faces the other row to that of the other action.
  std::string wayBetween(const TimedAction& from, const TimedAction& to) const {
    const bool down = to.action.ipu > from.action.ipu;
    const Tenths inset = 60;
    const Tenths from_y = rowTop(from.action.ipu) + (down ? kRow - inset : inset);
    const Tenths to_y = rowTop(to.action.ipu) + (down ? inset / 2 : kRow - inset / 2);
    const Tenths from_x = at(from.end) - std::min<Tenths>(60, (at(from.end) - at(from.start)) / 3);
    const Tenths to_x = at(to.start) + std::min<Tenths>(60, (at(to.end) - at(to.start)) / 3);
    return pop::svg_text::line({from_x, from_y}, {to_x, to_y}, "way");
  }

  std::string phases() const {
    std::string text;
    for (const Phase& phase : simulation_.phases) {
      if (phase.end == phase.begin) continue;
      const Tenths middle = (at(phase.begin) + at(phase.end)) / 2;
      text += pop::svg_text::brace(at(phase.begin) + 10, at(phase.end) - 10, top() - 90);
      text += pop::svg_text::words({middle, top() - 390}, "mid", phase.name);
      text += pop::svg_text::words({middle, top() - 250}, "small mid", percent(phase.utilisation));
    }
    return text;
  }

  std::string axis() const {
    const Tenths y = bottom() + 170;
    return pop::svg_text::line({kLeft, y}, {kLeft + time_width_, y}, "axis") +
           pop::svg_text::words({kLeft + time_width_, y + 150}, "small end", "time");
  }

  std::string legend() const {
    struct Entry {
      const char* style;
      const char* meaning;
      ActionKind kind;
    };
    constexpr std::array kEntries = {
        Entry{"F", "forward", ActionKind::kForward}, Entry{"R", "recomputed forward", ActionKind::kRecompute},
        Entry{"B", "backward", ActionKind::kBackward}, Entry{"U", "update", ActionKind::kUpdate}};
    Tenths x = kLeft;
    const Tenths y = bottom() + 470;
    std::string text;
    for (const Entry& entry : kEntries) {
      const auto is_it = [&](const TimedAction& timed) { return timed.action.kind == entry.kind; };
      if (options_.colour_by_micro_batch ||
          std::none_of(simulation_.actions.begin(), simulation_.actions.end(), is_it))
        continue;
      text += pop::svg_text::rectangle({x, y - 100}, 140, 120, entry.style, " rx=\"2\"");
      text += pop::svg_text::words({x + 200, y}, "small", entry.meaning);
      x += 360 + 60 * static_cast<Tenths>(std::string(entry.meaning).size());
    }
    text += pop::svg_text::line({x, y - 40}, {x + 220, y - 40}, "way");
    text += pop::svg_text::words({x + 280, y}, "small", "micro-batch " + std::to_string(options_.followed));
    x += 1240;
    text += pop::svg_text::line({x, y - 120}, {x, y + 30}, "sync") +
            pop::svg_text::words({x + 60, y}, "small", "sync");
    if (options_.colour_by_micro_batch)
      text += pop::svg_text::words({x + 460, y}, "small", "a colour for each micro-batch");
    return text;
  }

  const Schedule& schedule_;
  const Simulation& simulation_;
  const SvgOptions& options_;
  Tenths time_width_ = 0;
  double tenths_per_ps_ = 0;
};

}  // namespace

std::string svg(const Schedule& schedule, const Simulation& simulation, const SvgOptions& options) {
  return Drawing(schedule, simulation, options).text();
}

}  // namespace popdist::train
