// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/shm/shm_group.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/base/check.h"
#include "common/base/text.h"
#include "libpopdist/collectives/messages/transport/shm/ring.h"

namespace popdist::transport {
namespace {

// A rank's incoming rings take about this much in all, but each at least a page and at most what a core's L2
// holds.
constexpr std::size_t kIncomingBytes = 4 << 20;
constexpr std::size_t kMinRingBytes = 4 << 10;
constexpr std::size_t kMaxRingBytes = 256 << 10;

std::size_t ringBytesFor(int ranks) {
  const std::size_t share = std::bit_floor(kIncomingBytes / static_cast<std::size_t>(ranks));
  return std::clamp(share, kMinRingBytes, kMaxRingBytes);
}

std::size_t ringsBytes(int ranks, std::size_t ring_bytes) {
  return static_cast<std::size_t>(ranks) * (sizeof(RingHeader) + ring_bytes);
}

// One incoming ring from each rank, and a doorbell; a process uses that of its first rank.
std::size_t pieceBytes(int ranks, std::size_t ring_bytes) {
  static_assert(sizeof(RingHeader) % alignof(Doorbell) == 0 && kMinRingBytes % alignof(Doorbell) == 0);
  return ringsBytes(ranks, ring_bytes) + sizeof(Doorbell);
}

// Ring `index` of the piece at `piece_offset`.
struct RingPlace {
  RingHeader* header;
  std::byte* data;
};

RingPlace ringAt(const SegmentView& segment, std::size_t piece_offset, int index, std::size_t ring_bytes) {
  std::byte* start =
      segment.base + piece_offset + static_cast<std::size_t>(index) * (sizeof(RingHeader) + ring_bytes);
  return {reinterpret_cast<RingHeader*>(start), start + sizeof(RingHeader)};
}

struct Address {
  std::size_t piece_offset = 0;
  std::size_t doorbell_offset = 0;
};

pop::Result<Address> parseAddress(const std::string& text, const SegmentView& segment,
                                  std::size_t piece_bytes) {
  const std::vector<std::string> parts = pop::split(text, ' ');
  if (parts.size() != 2) return pop::internalError("unreadable shared-memory address " + pop::inQuotes(text));
  POP_ASSIGN_OR_RETURN(const std::int64_t piece, pop::parseInteger(parts[0]));
  POP_ASSIGN_OR_RETURN(const std::int64_t doorbell, pop::parseInteger(parts[1]));
  const Address address{static_cast<std::size_t>(piece), static_cast<std::size_t>(doorbell)};
  const bool inside = segment.hasPiece(address.piece_offset, piece_bytes) &&
                      address.doorbell_offset <= segment.bytes - sizeof(Doorbell) &&
                      address.doorbell_offset % alignof(Doorbell) == 0;
  if (!inside) return pop::internalError("shared-memory address outside the segment: " + pop::inQuotes(text));
  return address;
}

}  // namespace

class ShmGroup::Link final : public Connection {
 public:
  Link(RingProducer out, RingConsumer in, Doorbell* peer) : out_(out), in_(in), peer_(peer) {}

  std::size_t trySend(std::span<const std::byte> bytes) override {
    const std::size_t sent = out_.tryWrite(bytes);
    sending_ |= sent > 0;
    if (sent > 0) peer_->ring();
    return sent;
  }
  void finishSend() override {
    out_.align();
    sending_ = false;
  }
  std::span<const std::byte> peek() override { return in_.peek(); }
  void consume(std::size_t bytes) override {
    in_.consume(bytes);
    peer_->ring();
  }
  void finishReceive() override {
    in_.align();
    peer_->ring();  // the padding is room, too
  }
  bool tryTell(Head head, bool) override {
    if (sending_ || trySend(head) == 0) return false;
    finishSend();
    return true;
  }
  void abandon(std::span<const std::byte> abort_message) override {
    if (!sending_) out_.writeLast(abort_message);
    out_.close();
    peer_->ring();
  }
  pop::Status failure() const override {
    return in_.isClosed() ? pop::unavailable("it aborted the call") : pop::Status();
  }

 private:
  RingProducer out_;
  RingConsumer in_;
  Doorbell* peer_;
  bool sending_ = false;  ///< a message is half sent
};

class ShmGroup::Local final : public Endpoint {
 public:
  Local(int rank, std::size_t piece_offset) : rank_(rank), piece_offset_(piece_offset) {}

  Connection& peer(int rank) override { return links_[static_cast<std::size_t>(rank)]; }

  int rank() const { return rank_; }
  std::size_t pieceOffset() const { return piece_offset_; }
  std::vector<Link>& links() { return links_; }

 private:
  const int rank_;
  const std::size_t piece_offset_;
  std::vector<Link> links_;
};

ShmGroup::ShmGroup(SegmentView segment, int ranks, std::size_t ring_bytes, std::vector<std::size_t> pieces)
    : segment_(segment),
      ranks_(ranks),
      ring_bytes_(ring_bytes),
      doorbell_offset_(pieces.front() + ringsBytes(ranks, ring_bytes)),
      sleeper_(reinterpret_cast<Doorbell*>(segment.base + doorbell_offset_)) {}

ShmGroup::~ShmGroup() = default;

pop::Result<std::unique_ptr<ShmGroup>> ShmGroup::create(SegmentView segment, int ranks,
                                                        std::span<const int> local_ranks) {
  const std::size_t ring_bytes = ringBytesFor(ranks);
  std::vector<std::size_t> pieces;
  for (std::size_t i = 0; i < local_ranks.size(); ++i) {
    pieces.push_back(segment.takeFor(ranks, pieceBytes(ranks, ring_bytes)));
    if (pieces.back() == 0) {
      return pop::Status(pop::Code::kResourceExhausted,
                         "this host's shared-memory segment is full: too many communicators, Pods or ranks");
    }
  }
  std::unique_ptr<ShmGroup> group(new ShmGroup(segment, ranks, ring_bytes, pieces));
  for (std::size_t i = 0; i < local_ranks.size(); ++i)
    group->locals_.push_back(std::make_unique<Local>(local_ranks[i], pieces[i]));
  return group;
}

std::string ShmGroup::address(int rank) const {
  for (const auto& local : locals_) {
    if (local->rank() == rank) {
      return std::to_string(local->pieceOffset()) + ' ' + std::to_string(doorbell_offset_);
    }
  }
  POP_CHECK(false);
}

pop::Status ShmGroup::connect(std::span<const std::string> addresses) {
  POP_CHECK(addresses.size() == static_cast<std::size_t>(ranks_));
  std::vector<Address> parsed;
  for (const std::string& address : addresses) {
    POP_ASSIGN_OR_RETURN(const Address each,
                         parseAddress(address, segment_, pieceBytes(ranks_, ring_bytes_)));
    parsed.push_back(each);
    uses_.emplace_back(segment_, each.piece_offset, pieceBytes(ranks_, ring_bytes_),
                       static_cast<int>(locals_.size()));
  }
  for (const auto& local : locals_) {
    local->links().reserve(parsed.size());
    for (int peer = 0; peer < ranks_; ++peer) {
      const Address& address = parsed[static_cast<std::size_t>(peer)];
      const RingPlace out = ringAt(segment_, address.piece_offset, local->rank(), ring_bytes_);
      const RingPlace in = ringAt(segment_, local->pieceOffset(), peer, ring_bytes_);
      local->links().emplace_back(RingProducer(out.header, out.data, ring_bytes_, kMaxAbortMessageBytes),
                                  RingConsumer(in.header, in.data, ring_bytes_),
                                  reinterpret_cast<Doorbell*>(segment_.base + address.doorbell_offset));
    }
  }
  return {};
}

Endpoint& ShmGroup::endpoint(int local_rank) {
  for (const auto& local : locals_) {
    if (local->rank() == local_rank) return *local;
  }
  POP_CHECK(false);
}

}  // namespace popdist::transport
