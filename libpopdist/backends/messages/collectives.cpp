// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/messages/collectives.h"

#include <algorithm>
#include <cstring>

#include "libpopdist/src/reduce/fold.h"

namespace popdist::backends {
namespace {

using plan::Operation;

// Of a reduction's partial results, of which two are kept; and of what a chain passes on at a time.
constexpr std::size_t kReducedSegmentBytes = std::size_t{4} << 20;
constexpr std::size_t kPassedSegmentBytes = std::size_t{1} << 20;

}  // namespace

std::byte* Scratch::atLeast(std::size_t bytes) {
  if (bytes > bytes_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    bytes_ = bytes;
  }
  return memory_.get();
}

Collectives::Collectives(Exchange& exchange, Scratch& scratch, const group::CollectiveCall& call, int rank,
                         int ranks)
    : exchange_(exchange),
      scratch_(scratch),
      call_(call),
      rank_(rank),
      ranks_(ranks),
      left_(wrapped(rank - 1)),
      right_(wrapped(rank + 1)),
      element_bytes_(sizeOf(call.type)),
      input_(static_cast<const std::byte*>(call.input)),
      output_(static_cast<std::byte*>(call.output)) {}

Failure Collectives::run() {
  switch (call_.operation) {
    case Operation::kAllReduce:
      return allReduce();
    case Operation::kReduceScatter:
      return reduceScatter(equalBlocks(), output_);
    case Operation::kReduce:
      return reduce();
    case Operation::kAllGather: {
      const Parts blocks = call_.ragged ? partsOf(call_.counts) : equalBlocks();
      const Part own = blocks[static_cast<std::size_t>(rank_)];
      copyToOutput({0, own.count}, own);
      return allGather(blocks);
    }
    case Operation::kBroadcast:
      return broadcast();
    case Operation::kGather:
      return gather();
    case Operation::kScatter:
      return scatter();
    case Operation::kAllToAll:
      return allToAll();
    case Operation::kBarrier:
      return barrier();
    case Operation::kSendRecv:
      return sendRecv();
  }
  return {.status = pop::internalError("no such collective")};
}

// ---- reductions

Failure Collectives::allReduce() {
  std::vector<std::size_t> counts(static_cast<std::size_t>(ranks_),
                                  call_.count / static_cast<std::size_t>(ranks_));
  for (std::size_t i = 0; i < call_.count % counts.size(); ++i) ++counts[i];
  const Parts blocks = partsOf(counts);
  std::byte* const own = output_ + blocks[static_cast<std::size_t>(rank_)].first * element_bytes_;
  if (Failure failure = reduceScatter(blocks, own); !failure.ok()) return failure;
  return allGather(blocks);
}

// Segment by segment of each block, so that partial results need little memory.
Failure Collectives::reduceScatter(const Parts& blocks, std::byte* out) {
  if (ranks_ == 1) {
    foldAlone(out);
    return {};
  }
  const std::size_t segment = kReducedSegmentBytes / element_bytes_;
  std::size_t most = 0;
  for (const Part& each : blocks) most = std::max(most, each.count);
  std::byte* const scratch = scratch_.atLeast(2 * std::min(most, segment) * element_bytes_);
  for (std::size_t done = 0; done == 0 || done < most; done += segment) {
    Parts parts;
    for (const Part& each : blocks) {
      const std::size_t skipped = std::min(done, each.count);
      parts.push_back({each.first + skipped, std::min(segment, each.count - skipped)});
    }
    const std::size_t own_skipped = std::min(done, blocks[static_cast<std::size_t>(rank_)].count);
    if (Failure failure = reduceScatterSegment(parts, out + own_skipped * element_bytes_, scratch);
        !failure.ok())
      return failure;
  }
  return {};
}

// Block b starts at rank b + 1, goes round, and ends, with everybody's elements in it, at rank b.
Failure Collectives::reduceScatterSegment(const Parts& parts, std::byte* out, std::byte* scratch) {
  std::size_t most = 0;
  for (const Part& each : parts) most = std::max(most, each.count);
  std::byte* const halves[] = {scratch, scratch + most * element_bytes_};
  for (int step = 0; step < ranks_ - 1; ++step) {
    const Part sent = parts[static_cast<std::size_t>(wrapped(rank_ - 1 - step))];
    const Part received = parts[static_cast<std::size_t>(wrapped(rank_ - 2 - step))];
    const bool last = step == ranks_ - 2;
    const Outgoing outgoing =
        step == 0 ? sending(right_, input_, sent) : sending(right_, halves[(step - 1) % 2], {0, sent.count});
    const Incoming incoming = folding(left_, received, last ? out : halves[step % 2], step > 0, last);
    if (Failure failure = exchange_.run(outgoing, incoming); !failure.ok()) return failure;
  }
  return {};
}

// From the rank after the root round to the root, each passing on a segment while the next one comes.
Failure Collectives::reduce() {
  if (ranks_ == 1) {
    foldAlone(output_);
    return {};
  }
  const int place = wrapped(rank_ - call_.root - 1);
  const bool first = place == 0;
  const bool last = rank_ == call_.root;
  const std::size_t segment = kPassedSegmentBytes / element_bytes_;
  std::byte* const scratch = first || last ? nullptr : scratch_.atLeast(2 * kPassedSegmentBytes);
  const auto half = [&](std::size_t number) { return scratch + number % 2 * kPassedSegmentBytes; };
  const std::size_t segments = std::max<std::size_t>(1, (call_.count + segment - 1) / segment);
  const auto part = [&](std::size_t number) {
    return Part{number * segment, std::min(segment, call_.count - number * segment)};
  };
  for (std::size_t number = 0; number <= segments; ++number) {
    Outgoing outgoing;
    Incoming incoming;
    if (!last && number > 0) {
      const Part sent = part(number - 1);
      outgoing = first ? sending(right_, input_, sent) : sending(right_, half(number - 1), {0, sent.count});
    }
    if (!first && number < segments) {
      const Part own = part(number);
      std::byte* const to = last ? output_ + own.first * element_bytes_ : half(number);
      incoming = folding(left_, own, to, place > 1, last);
    }
    if (Failure failure = exchange_.run(outgoing, incoming); !failure.ok()) return failure;
  }
  return {};
}

// ---- moves

Failure Collectives::allGather(const Parts& blocks) {
  for (int step = 0; step < ranks_ - 1; ++step) {
    const Part sent = blocks[static_cast<std::size_t>(wrapped(rank_ - step))];
    const Part received = blocks[static_cast<std::size_t>(wrapped(rank_ - step - 1))];
    if (Failure failure = exchange_.run(sending(right_, output_, sent), writing(left_, received));
        !failure.ok())
      return failure;
  }
  return {};
}

Failure Collectives::broadcast() {
  const int place = wrapped(rank_ - call_.root);
  const bool first = place == 0;
  const bool last = place == ranks_ - 1;
  if (first) copyToOutput({0, call_.count}, {0, call_.count});
  const std::size_t segment = kPassedSegmentBytes / element_bytes_;
  const std::size_t segments = std::max<std::size_t>(1, (call_.count + segment - 1) / segment);
  const auto part = [&](std::size_t number) {
    return Part{number * segment, std::min(segment, call_.count - number * segment)};
  };
  for (std::size_t number = 0; number <= segments; ++number) {
    const bool sends = !last && number > 0;
    const bool receives = !first && number < segments;
    if (Failure failure = exchange_.run(sends ? sending(right_, output_, part(number - 1)) : Outgoing{},
                                        receives ? writing(left_, part(number)) : Incoming{});
        !failure.ok())
      return failure;
  }
  return {};
}

Failure Collectives::gather() {
  if (rank_ != call_.root) return exchange_.run(sending(call_.root, input_, {0, call_.count}), {});
  copyToOutput({0, call_.count}, block(rank_));
  for (int step = 1; step < ranks_; ++step) {
    const int from = wrapped(rank_ + step);
    if (Failure failure = exchange_.run({}, writing(from, block(from))); !failure.ok()) return failure;
  }
  return {};
}

Failure Collectives::scatter() {
  if (rank_ != call_.root) return exchange_.run({}, writing(call_.root, {0, call_.count}));
  copyToOutput(block(rank_), {0, call_.count});
  for (int step = 1; step < ranks_; ++step) {
    const int to = wrapped(rank_ + step);
    if (Failure failure = exchange_.run(sending(to, input_, block(to)), {}); !failure.ok()) return failure;
  }
  return {};
}

Failure Collectives::allToAll() {
  const Parts sent = call_.ragged ? partsOf(call_.counts) : equalBlocks();
  const Parts received = call_.ragged ? partsOf(call_.recv_counts) : equalBlocks();
  const auto own = static_cast<std::size_t>(rank_);
  if (sent[own].count != received[own].count) {
    return {.status = pop::failedPrecondition(
                "rank " + std::to_string(rank_) + " sends " + std::to_string(sent[own].count) +
                " elements to itself but expects " + std::to_string(received[own].count)),
            .peer_rank = rank_};
  }
  copyToOutput(sent[own], received[own]);
  for (int step = 1; step < ranks_; ++step) {
    const int to = wrapped(rank_ + step);
    const int from = wrapped(rank_ - step);
    if (Failure failure = exchange_.run(sending(to, input_, sent[static_cast<std::size_t>(to)]),
                                        writing(from, received[static_cast<std::size_t>(from)]));
        !failure.ok())
      return failure;
  }
  return {};
}

// After the step of distance d, this rank has heard, directly or not, from the 2d - 1 before it.
Failure Collectives::barrier() {
  for (int distance = 1; distance < ranks_; distance *= 2) {
    if (Failure failure = exchange_.run({.to = wrapped(rank_ + distance), .bytes = {}},
                                        {.from = wrapped(rank_ - distance), .bytes = 0, .sink = {}});
        !failure.ok())
      return failure;
  }
  return {};
}

// ---- parts of buffers

Incoming Collectives::folding(int from, Part own, std::byte* out, bool partial, bool last) const {
  const reduce::FoldSpec spec{.op = call_.op,
                              .type = call_.type,
                              .partials = partial ? std::size_t{1} : std::size_t{0},
                              .divisor = last ? static_cast<double>(ranks_) : 1.0};
  const std::byte* const mine = input_ + own.first * element_bytes_;
  const std::size_t element_bytes = element_bytes_;
  return {.from = from,
          .bytes = own.count * element_bytes_,
          .sink = [spec, mine, out, element_bytes](std::size_t offset, std::span<const std::byte> piece) {
            void* const to[] = {out + offset};
            const void* const sources[] = {piece.data(), mine + offset};
            reduce::fold(spec, to, sources, piece.size() / element_bytes);
          }};
}

Incoming Collectives::writing(int from, Part part) const {
  std::byte* const out = output_ + part.first * element_bytes_;
  return {.from = from,
          .bytes = part.count * element_bytes_,
          .sink = [out](std::size_t offset, std::span<const std::byte> piece) {
            std::memcpy(out + offset, piece.data(), piece.size());
          }};
}

Outgoing Collectives::sending(int to, const std::byte* buffer, Part part) const {
  if (part.count == 0) return {.to = to, .bytes = {}};
  return {.to = to, .bytes = {buffer + part.first * element_bytes_, part.count * element_bytes_}};
}

void Collectives::copyToOutput(Part from, Part to) const {
  const std::byte* const source = input_ + from.first * element_bytes_;
  std::byte* const target = output_ + to.first * element_bytes_;
  if (from.count > 0 && source != target) std::memcpy(target, source, from.count * element_bytes_);
}

void Collectives::foldAlone(std::byte* out) const {
  if (call_.count == 0) return;
  void* const to[] = {out};
  const void* const from[] = {input_};
  reduce::fold({.op = call_.op, .type = call_.type}, to, from, call_.count);
}

Collectives::Parts Collectives::equalBlocks() const {
  Parts parts;
  for (int rank = 0; rank < ranks_; ++rank) parts.push_back(block(rank));
  return parts;
}

Collectives::Parts Collectives::partsOf(std::span<const std::size_t> counts) {
  Parts parts;
  std::size_t first = 0;
  for (const std::size_t count : counts) {
    parts.push_back({first, count});
    first += count;
  }
  return parts;
}

}  // namespace popdist::backends
