// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/split_all_reduce.h"

#include <memory>
#include <utility>

#include "common/base/check.h"

namespace pop::pod {
namespace {

constexpr int kNone = -1;

// Along one rail: each position owns a shard. All answers are shards, or kNone.
struct Rail {
  int positions = 1;
  bool is_ring = false;

  int rounds() const { return is_ring ? positions / 2 : positions - 1; }
  int up(int position) const { return (position + 1) % positions; }
  int down(int position) const { return (position + positions - 1) % positions; }

  // Sent by a position in a round of the reduce-scatter. On a ring half of them travel each way; on a line a
  // shard's sums start at both ends so that all arrive in the last round.
  int reducedUp(int position, int round) const {
    if (round < 0 || round >= rounds()) return kNone;
    if (is_ring) return (position + rounds() - round) % positions;
    return round >= position ? positions - 1 + position - round : kNone;
  }
  int reducedDown(int position, int round) const {
    if (round < 0 || round >= hopsDown()) return kNone;
    if (is_ring) return (position - hopsDown() + round + positions) % positions;
    const int shard = round - (positions - 1 - position);
    return shard >= 0 && shard < position ? shard : kNone;
  }
  // Received by a position in a round of the all-gather.
  int gatheredFromBelow(int position, int round) const {
    if (round < 0 || round >= rounds()) return kNone;
    const int shard = position - 1 - round;
    if (is_ring) return (shard + positions) % positions;
    return shard >= 0 ? shard : kNone;
  }
  int gatheredFromAbove(int position, int round) const {
    if (round < 0 || round >= hopsDown()) return kNone;
    const int shard = position + 1 + round;
    if (is_ring) return shard % positions;
    return shard < positions ? shard : kNone;
  }

 private:
  int hopsDown() const { return is_ring ? positions - 1 - rounds() : rounds(); }
};

// Rows of two IPUs, or squares of four, and the rails through them.
struct Split {
  Rail rail;
  int members = 2;    // of a row or a square: each sums one part of a shard along its rail
  int exchanges = 1;  // that split a shard over the members: 1 or 2
  int pieces = 1;

  int period() const { return rail.positions; }
  int roundsOfPiece() const { return 2 * (rail.rounds() + exchanges); }
  int rounds() const { return (pieces - 1) * period() + roundsOfPiece(); }

  // In a twist a rail changes its place from square to square.
  int replicaAt(int position, int member) const {
    const int place = members == 4 ? member ^ (2 * (position % 2)) : member;
    return position * members + place;
  }
  int partnerOf(int member, int exchange) const { return member ^ (1 << exchange); }
  // The first exchange halves a shard, so its bit of the member is the highest one of the part.
  int partOf(int member) const { return members == 4 ? (member & 1) * 2 + (member >> 1) : member; }

  // Parts that a member and those it still stands for hold together after so many exchanges.
  struct Parts {
    int first = 0;
    int count = 0;
  };
  Parts partsAfter(int member, int exchanged) const {
    const int count = members >> exchanged;
    return {partOf(member) / count * count, count};
  }
};

// The transfers of one piece in one of its rounds.
class PieceRound {
 public:
  PieceRound(const Split& split, int piece, const Take& take) : split_(split), piece_(piece), take_(take) {}

  void emit(int round) const {
    const Rail& rail = split_.rail;
    const int down = round - split_.exchanges;  // round of the reduce-scatter
    const int gathered = down - rail.rounds();  // round of the all-gather
    for (int position = 0; position < rail.positions; ++position) {
      for (int member = 0; member < split_.members; ++member) {
        for (int exchange = 0; exchange < split_.exchanges; ++exchange) {
          scatterInside(position, member, exchange, round - exchange);
          gatherInside(position, member, exchange, gathered - (split_.exchanges - exchange));
        }
        alongRail(position, rail.up(position), member, rail.reducedUp(position, down), true);
        alongRail(position, rail.down(position), member, rail.reducedDown(position, down), true);
        alongRail(rail.down(position), position, member, rail.gatheredFromBelow(position, gathered), false);
        alongRail(rail.up(position), position, member, rail.gatheredFromAbove(position, gathered), false);
      }
    }
  }

 private:
  // Before a shard goes along the rail in `rail_round`; the own one does not.
  void scatterInside(int position, int member, int exchange, int rail_round) const {
    const Rail& rail = split_.rail;
    const int partner = split_.partnerOf(member, exchange);
    const Split::Parts parts = split_.partsAfter(partner, exchange + 1);
    const int own = rail_round == rail.rounds() ? position : kNone;
    for (const int shard :
         {rail.reducedUp(position, rail_round), rail.reducedDown(position, rail_round), own})
      send(split_.replicaAt(position, member), split_.replicaAt(position, partner), shard, parts, true);
  }

  // After a shard came in `rail_round`; the own one is there from the start.
  void gatherInside(int position, int member, int exchange, int rail_round) const {
    const Rail& rail = split_.rail;
    const int partner = split_.partnerOf(member, exchange);
    const Split::Parts parts = split_.partsAfter(member, exchange + 1);
    const int own = rail_round == -1 ? position : kNone;
    for (const int shard :
         {rail.gatheredFromBelow(position, rail_round), rail.gatheredFromAbove(position, rail_round), own})
      send(split_.replicaAt(position, member), split_.replicaAt(position, partner), shard, parts, false);
  }

  void alongRail(int from, int to, int member, int shard, bool reduces) const {
    send(split_.replicaAt(from, member), split_.replicaAt(to, member), shard, {split_.partOf(member), 1},
         reduces);
  }

  void send(int from, int to, int shard, Split::Parts parts, bool reduces) const {
    if (shard == kNone) return;
    const int block = (piece_ * split_.rail.positions + shard) * split_.members + parts.first;
    take_({from, to, static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(parts.count), reduces});
  }

  const Split& split_;
  const int piece_;
  const Take& take_;
};

void transfersOf(const Split& split, int round, const Take& take) {
  for (int piece = 0; piece < split.pieces; ++piece) {
    const int local = round - piece * split.period();
    if (local >= 0 && local < split.roundsOfPiece()) PieceRound(split, piece, take).emit(local);
  }
}

// A round is like that of a period before while as many pieces are under way as can be.
std::vector<RoundClass> classesOf(const Split& split) {
  const int begin = split.roundsOfPiece();
  const int end = split.pieces * split.period();
  std::vector<RoundClass> classes;
  for (int round = 0; round < split.rounds(); ++round) {
    const bool is_steady = round >= begin && round < end;
    if (is_steady && round - begin >= split.period()) continue;
    const int times = is_steady ? (end - 1 - round) / split.period() + 1 : 1;
    classes.push_back({round, times});
  }
  return classes;
}

std::optional<Split> splitOf(const ReplicaLayout& layout) {
  const PodSpec& spec = layout.spec;
  const bool twists = spec.shape.topology == IldTopology::kBarleyTwist;
  const int members = twists ? 4 : 2;
  const bool fits = !spec.wiring && spec.removed_links.empty() && layout.ipus_per_replica == 1 &&
                    layout.ildCount() == 1 && layout.replicas % members == 0;
  if (!fits) return std::nullopt;
  const int positions = layout.replicas / members;
  // A ring needs all rows; that of a twist comes back to its own place after an even number of squares.
  const bool whole = layout.replicas == spec.ildIpus();
  const bool loops = spec.shape.topology != IldTopology::kMesh && positions > 2 && whole;
  const bool is_ring = loops && (!twists || positions % 2 == 0);
  return Split{{positions, is_ring}, members, twists ? 2 : 1, 1};
}

}  // namespace

std::optional<Schedule> splitAllReduce(const ReplicaLayout& layout, int pieces) {
  POP_CHECK(pieces >= 1);
  std::optional<Split> split = splitOf(layout);
  if (!split) return std::nullopt;
  if (!split->rail.is_ring) split->pieces = pieces;
  const auto shared = std::make_shared<const Split>(*split);
  Schedule schedule{.replicas = layout.replicas,
                    .blocks = static_cast<std::uint32_t>(shared->pieces * layout.replicas),
                    .phases = {}};
  schedule.phases.push_back({"split inside, sum along rails", shared->rounds(), classesOf(*shared),
                             [shared](int round, const Take& take) { transfersOf(*shared, round, take); }});
  return schedule;
}

}  // namespace pop::pod
