// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/sequence.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/data/dataset/row_layout.h"
#include "popdist/error.hpp"

namespace popdist::io {
namespace {

/// Turns reads by index into a walk: on where it is, or from the start of a pass.
class Sequence final : public Node {
 public:
  Sequence(Spec element, Extent known, StartPass start, SequenceName name)
      : spec_(std::move(element)),
        layout_(spec_),
        start_(std::move(start)),
        name_(std::move(name)),
        known_(known),
        most_(known.value_or(0)) {}

  const Spec& spec() const override { return spec_; }
  Extent extent() const override {
    const std::scoped_lock lock(mutex_);
    return known_;
  }
  Extent dropped() const override { return name_.below ? name_.below->dropped() : 0; }
  bool isSequence() const override { return true; }
  bool isShuffled() const override { return name_.below != nullptr; }  // only shuffleBuffered() has one
  std::uint64_t rows() const override { return name_.below ? name_.below->rows() : 1; }
  bool isPadded() const override { return name_.below && name_.below->isPadded(); }
  std::string description() const override {
    return (name_.below ? name_.below->description() : "") + name_.own;
  }
  std::string part() const override { return name_.below ? name_.below->part() : ""; }
  std::string commonSteps() const override {
    return name_.below ? name_.below->commonSteps() + name_.own : Node::commonSteps();
  }
  std::string shared(const Everybody& of) const override {
    return name_.below ? name_.below->shared(of) : Node::shared(of);
  }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    const std::scoped_lock lock(mutex_);
    if (known_ && index >= *known_) {
      walkToEnd(pass);
      return false;
    }
    if (!next_ || pass.epoch != epoch_ || index < position_) begin(pass.epoch);
    try {
      return walkTo(pass, index, row);
    } catch (...) {
      next_ = nullptr;  // its next element is unknown
      throw;
    }
  }

  void finish(const Pass& pass) const override {
    const std::scoped_lock lock(mutex_);
    if (known_) walkToEnd(pass);
  }

 private:
  bool walkTo(const Pass& pass, std::uint64_t index, Row row) const {
    const ScratchRow skipped(layout_);
    while (position_ < index) {
      if (pass.isCancelled() || !advance(pass, skipped.row())) return false;
    }
    return advance(pass, row);
  }

  void begin(std::uint64_t epoch) const {
    next_ = nullptr;  // ends the old pass before the new one begins
    next_ = start_(epoch);
    epoch_ = epoch;
    position_ = 0;
  }

  bool advance(const Pass& pass, Row row) const {
    if (next_(pass, row)) {
      ++position_;
      if (known_ && position_ > *known_) failOfOtherLength("more");
      most_ = std::max(most_, position_);
      return true;
    }
    if (pass.isCancelled()) return false;
    if (position_ < most_) failOfOtherLength(std::to_string(position_));
    known_ = position_;
    return false;
  }

  void walkToEnd(const Pass& pass) const {
    if (!next_ || pass.epoch != epoch_ || position_ > *known_) return;
    const ScratchRow unused(layout_);
    while (!pass.isCancelled() && advance(pass, unused.row())) {
    }
  }

  [[noreturn]] void failOfOtherLength(const std::string& elements) const {
    throw popdist_error(ErrorCode::kFailedPrecondition,
                        "the generator gave " + elements + " elements in epoch " + std::to_string(epoch_) +
                            ", and " + std::to_string(most_) + (known_ ? "" : " or more") +
                            " in a pass before: every pass must have the same number");
  }

  const Spec spec_;
  const RowLayout layout_;
  const StartPass start_;
  const SequenceName name_;
  mutable std::mutex mutex_;
  mutable Extent known_;
  mutable std::uint64_t most_;  // elements that a pass has had
  mutable NextElement next_;
  mutable std::uint64_t epoch_ = 0;
  mutable std::uint64_t position_ = 0;  // the next element's
};

/// The state of one pass of shuffledInBuffer.
class DrawnFromBuffer {
 public:
  DrawnFromBuffer(std::shared_ptr<const Node> below, std::size_t elements, std::uint64_t seed,
                  std::uint64_t epoch)
      : below_(std::move(below)),
        layout_(below_->spec()),
        room_(elements),
        random_(pop::SplitMix64(pop::SplitMix64(seed).next() ^ epoch).next()) {}

  bool next(const Pass& pass, Row row) {
    while (rows_.size() < room_ && read(pass)) {
    }
    if (rows_.empty() || pass.isCancelled()) return false;
    std::swap(rows_[random_.below(rows_.size())], rows_.back());
    layout_.copy(layout_.at(rows_.back().get()).data(), row);
    spare_ = std::move(rows_.back());
    rows_.pop_back();
    return true;
  }

 private:
  bool read(const Pass& pass) {
    if (is_over_) return false;
    std::unique_ptr<std::byte[]> memory = spare_ ? std::move(spare_) : allocate();
    const RowAddresses addresses = layout_.at(memory.get());
    if (!below_->read(pass, position_, addresses.data())) {
      is_over_ = !pass.isCancelled();
      return false;
    }
    ++position_;
    rows_.push_back(std::move(memory));
    return true;
  }

  std::unique_ptr<std::byte[]> allocate() const {
    return std::make_unique_for_overwrite<std::byte[]>(layout_.rowBytes());
  }

  std::shared_ptr<const Node> below_;
  RowLayout layout_;
  std::size_t room_;
  pop::SplitMix64 random_;
  std::vector<std::unique_ptr<std::byte[]>> rows_;
  std::unique_ptr<std::byte[]> spare_;
  std::uint64_t position_ = 0;
  bool is_over_ = false;
};

}  // namespace

std::unique_ptr<const Node> sequenceOf(Spec element, Extent known, StartPass start, SequenceName name) {
  return std::make_unique<Sequence>(std::move(element), known, std::move(start), std::move(name));
}

pop::Result<std::unique_ptr<const Node>> generated(Spec element,
                                                   std::function<Generator(std::uint64_t)> start) {
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(element, "the generator's element"));
  if (!start) return pop::invalidArgument("no function that starts a generator");
  const auto spec = std::make_shared<const Spec>(element);
  const auto begin = [start = std::move(start), spec](std::uint64_t epoch) -> NextElement {
    return
        [generator = start(epoch), spec](const Pass&, Row row) { return generator(TensorRefs(*spec, row)); };
  };
  return sequenceOf(std::move(element), std::nullopt, begin, {nullptr, "generator(" + textOf(*spec) + ')'});
}

pop::Result<std::unique_ptr<const Node>> shuffledInBuffer(std::unique_ptr<const Node> below,
                                                          std::size_t elements, std::uint64_t seed) {
  if (elements < 1) return pop::invalidArgument("the buffer has room for 0 elements, expected 1 or more");
  const std::shared_ptr<const Node> shared = std::move(below);
  const auto begin = [shared, elements, seed](std::uint64_t epoch) -> NextElement {
    const auto buffer = std::make_shared<DrawnFromBuffer>(shared, elements, seed, epoch);
    return [buffer](const Pass& pass, Row row) { return buffer->next(pass, row); };
  };
  return sequenceOf(
      shared->spec(), shared->extent(), begin,
      {shared, ".shuffleBuffered(" + std::to_string(elements) + ", " + std::to_string(seed) + ')'});
}

}  // namespace popdist::io
