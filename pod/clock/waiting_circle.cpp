// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/waiting_circle.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pod/system/numbering.h"
#include "pod/system/routes.h"

namespace pop::pod {
namespace {

// The links that each link waits for.
class Waits {
 public:
  explicit Waits(const Topology& topology) : topology_(topology), next_of_(topology.links().size()) {}

  void add(const ReplicaLayout& layout, const Transfer& transfer) {
    const int from = firstIpuOf(transfer.from, layout.ipus_per_replica);
    const int to = firstIpuOf(transfer.to, layout.ipus_per_replica);
    for (int ipu = 0; ipu < layout.ipus_per_replica; ++ipu) {
      const Route way = route(topology_, from + ipu, to + ipu);
      for (std::size_t hop = 1; hop < way.size(); ++hop) add(way[hop - 1], way[hop]);
    }
  }

  /// Links in the order of a circle; none: there is no circle.
  std::vector<int> circle() {
    state_.assign(next_of_.size(), State::kNew);
    for (const int link : waiting_) {
      if (state_[index(link)] == State::kNew && search(link)) return found_;
    }
    return {};
  }

 private:
  enum class State : std::uint8_t { kNew, kOnPath, kDone };
  struct Place {
    int link;
    std::size_t next;
  };

  static std::size_t index(int link) { return static_cast<std::size_t>(link); }

  void add(int link, int next) {
    std::vector<int>& all = next_of_[index(link)];
    if (std::ranges::find(all, next) != all.end()) return;
    if (all.empty()) waiting_.push_back(link);
    all.push_back(next);
  }

  // Depth first, without recursion: ways round a large Pod are long.
  bool search(int begin) {
    std::vector<Place> path{{begin, 0}};
    state_[index(begin)] = State::kOnPath;
    while (!path.empty()) {
      Place& at = path.back();
      const std::vector<int>& all = next_of_[index(at.link)];
      if (at.next == all.size()) {
        state_[index(at.link)] = State::kDone;
        path.pop_back();
        continue;
      }
      const int next = all[at.next++];
      if (state_[index(next)] == State::kOnPath) {
        const auto first = std::ranges::find(path, next, &Place::link);
        for (auto each = first; each != path.end(); ++each) found_.push_back(each->link);
        return true;
      }
      if (state_[index(next)] == State::kDone) continue;
      state_[index(next)] = State::kOnPath;
      path.push_back({next, 0});
    }
    return false;
  }

  const Topology& topology_;
  std::vector<std::vector<int>> next_of_;
  std::vector<int> waiting_;
  std::vector<State> state_;
  std::vector<int> found_;
};

std::vector<int> nodesOf(const Topology& topology, const std::vector<int>& links) {
  std::vector<int> nodes;
  for (const int link : links) nodes.push_back(topology.links()[static_cast<std::size_t>(link)].from);
  std::ranges::rotate(nodes, std::ranges::min_element(nodes));
  return nodes;
}

}  // namespace

std::optional<WaitingCircle> waitingCircle(const Topology& topology, const ReplicaLayout& layout,
                                           const Schedule& schedule) {
  int before = 0;
  for (const Phase& phase : schedule.phases) {
    for (const RoundClass& alike : phase.classes) {
      Waits waits(topology);
      phase.transfers(alike.round, [&](const Transfer& each) { waits.add(layout, each); });
      const std::vector<int> links = waits.circle();
      if (!links.empty()) return WaitingCircle{before + alike.round, nodesOf(topology, links)};
    }
    before += phase.rounds;
  }
  return std::nullopt;
}

}  // namespace pop::pod
