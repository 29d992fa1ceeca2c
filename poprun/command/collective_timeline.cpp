// SPDX-License-Identifier: Apache-2.0
// The Trace Event Format, as instances' traces have it: the files can be joined.
#include <map>
#include <set>

#include "common/base/json.h"
#include "common/base/text.h"
#include "pod/clock/timeline.h"
#include "pod/system/numbering.h"
#include "pod/system/system_text.h"
#include "poprun/command/collective_report.h"

namespace pop {
namespace {

constexpr std::size_t kMostEvents = 1'000'000;
// Numbers of processes that no trace of an instance has: the kernel's are smaller.
constexpr int kIpus = 1 << 30;
constexpr int kLinks = kIpus + 1;

std::string microseconds(pod::Picoseconds time) {
  return numberText(static_cast<double>(time.count()) / 1e6);
}

class Timeline {
 public:
  Timeline(const pod::Topology& topology, const pod::ReplicaLayout& layout)
      : topology_(topology), layout_(layout) {
    name("process_name", kIpus, 0, layout.spec.name + ": IPUs");
    name("process_name", kLinks, 0, layout.spec.name + ": links");
  }

  void add(const pod::Round& round) {
    std::set<int> ipus;
    for (const pod::Transfer& copy : round.copies) {
      for (const int replica : {copy.from, copy.to}) {
        const int first = pod::firstIpuOf(replica, layout_.ipus_per_replica);
        for (int ipu = first; ipu < first + layout_.ipus_per_replica; ++ipu) ipus.insert(ipu);
      }
    }
    for (const int ipu : ipus) {
      slice(kIpus, track(kIpus, ipu), std::string(round.phase), round.begin, round.transfers,
            JsonObject().number("round", round.number).str());
      slice(kIpus, track(kIpus, ipu), "sync", round.begin + round.transfers, round.cost, "{}");
    }
    for (const pod::LinkUse& use : round.links) {
      const pod::Link& link = topology_.links()[static_cast<std::size_t>(use.link)];
      const pod::Picoseconds busy = pod::transferTime(use.bytes, link.bytes_per_s);
      slice(kLinks, track(kLinks, use.link), sizeText(use.bytes), round.begin, busy,
            JsonObject()
                .number("round", round.number)
                .number("bytes", static_cast<std::int64_t>(use.bytes))
                .str());
    }
  }

  bool isFull() const { return events_ > kMostEvents; }
  std::string str() const { return "[\n" + text_ + "\n]\n"; }

 private:
  // Named when something is first on it.
  int track(int process, int number) {
    if (!named_.emplace(process, number).second) return number;
    const pod::Link* link =
        process == kLinks ? &topology_.links()[static_cast<std::size_t>(number)] : nullptr;
    name("thread_name", process, number,
         link != nullptr
             ? pod::nodeName(layout_.spec, link->from) + " to " + pod::nodeName(layout_.spec, link->to)
             : pod::nodeName(layout_.spec, number));
    return number;
  }

  void name(std::string_view what, int process, int thread, const std::string& name) {
    append(JsonObject()
               .text("name", what)
               .text("ph", "M")
               .number("pid", process)
               .number("tid", thread)
               .json("args", JsonObject().text("name", name).str()));
  }

  void slice(int process, int thread, std::string_view name, pod::Picoseconds begin, pod::Picoseconds lasts,
             const std::string& arguments) {
    append(JsonObject()
               .text("name", name)
               .text("ph", "X")
               .json("ts", microseconds(begin))
               .json("dur", microseconds(lasts))
               .number("pid", process)
               .number("tid", thread)
               .json("args", arguments));
  }

  void append(const JsonObject& event) {
    if (++events_ > kMostEvents) return;
    text_ += (text_.empty() ? "" : ",\n") + event.str();
  }

  const pod::Topology& topology_;
  const pod::ReplicaLayout& layout_;
  std::set<std::pair<int, int>> named_;
  std::size_t events_ = 0;
  std::string text_;
};

}  // namespace

Result<std::string> timelineText(const pod::TimedSchedule& timed, const pod::ReplicaLayout& layout,
                                 const pod::Collective& collective) {
  const pod::Topology topology(layout.spec);
  Timeline timeline(topology, layout);
  pod::forEachRound(topology, layout, timed.schedule, collective.count, collective.element_bytes,
                    [&timeline](const pod::Round& round) {
                      if (!timeline.isFull()) timeline.add(round);
                    });
  if (!timeline.isFull()) return timeline.str();
  return Status{Code::kResourceExhausted,
                "--trace: " + timed.name + " on " + layout.spec.name +
                    " has more than a million events: take fewer replicas, or another "
                    "--algorithm"};
}

}  // namespace pop
