// SPDX-License-Identifier: Apache-2.0
// cache(): rows are kept as they are first read. A sequence is read whole when its first row is asked
// for, since its end is not known before.
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/dataset/cached.h"
#include "libpopdist/data/dataset/row_layout.h"

namespace popdist::io {
namespace {

/// A row is filled by the first thread that asks for it; others wait for it.
class CachedRows final : public Step {
 public:
  CachedRows(std::unique_ptr<const Node> below, std::uint64_t elements)
      : Step(std::move(below)), layout_(spec()), elements_(elements) {}

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    if (index >= elements_) return false;
    std::call_once(allocated_, [this] {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(elements_ * layout_.rowBytes());
      states_ = std::make_unique<std::atomic<State>[]>(elements_);
    });
    const RowAddresses kept = layout_.at(memory_.get() + index * layout_.rowBytes());
    if (!fill(pass, index, kept.data())) return false;
    layout_.copy(kept.data(), row);
    return true;
  }

  std::string ownDescription() const override { return {}; }

 private:
  enum class State : std::uint8_t { kEmpty, kBeingFilled, kFull };

  bool fill(const Pass& pass, std::uint64_t index, Row kept) const {
    std::atomic<State>& state = states_[index];
    while (state.load(std::memory_order_acquire) != State::kFull) {
      State expected = State::kEmpty;
      if (!state.compare_exchange_strong(expected, State::kBeingFilled)) {
        state.wait(State::kBeingFilled);
        continue;
      }
      if (!fillMine(pass, index, kept, state)) return false;
    }
    return true;
  }

  /// Threads that wait hear of it, whatever happens.
  bool fillMine(const Pass& pass, std::uint64_t index, Row kept, std::atomic<State>& state) const {
    struct Leave {
      std::atomic<State>& state;
      State outcome = State::kEmpty;
      ~Leave() {
        state.store(outcome, std::memory_order_release);
        state.notify_all();
      }
    } leave{state};
    if (!below().read(pass.ofEpoch(0), index, kept)) return false;
    leave.outcome = State::kFull;
    return true;
  }

  RowLayout layout_;
  std::uint64_t elements_;
  mutable std::once_flag allocated_;
  mutable std::unique_ptr<std::byte[]> memory_;
  mutable std::unique_ptr<std::atomic<State>[]> states_;
};

class CachedSequence final : public Step {
 public:
  explicit CachedSequence(std::unique_ptr<const Node> below) : Step(std::move(below)), layout_(spec()) {}

  /// Reads the whole sequence, the first time.
  Extent extent() const override {
    readAll({});
    return rows_.size();
  }
  bool isSequence() const override { return false; }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    if (!readAll(pass) || index >= rows_.size()) return false;
    layout_.copy(layout_.at(rows_[index].get()).data(), row);
    return true;
  }

  std::string ownDescription() const override { return {}; }

 private:
  bool readAll(const Pass& pass) const {
    const std::scoped_lock lock(mutex_);
    while (!is_whole_) {
      auto memory = std::make_unique_for_overwrite<std::byte[]>(layout_.rowBytes());
      if (below().read(pass.ofEpoch(0), rows_.size(), layout_.at(memory.get()).data())) {
        rows_.push_back(std::move(memory));
      } else if (pass.isCancelled()) {
        return false;
      } else {
        is_whole_ = true;
      }
    }
    return true;
  }

  RowLayout layout_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<std::byte[]>> rows_;
  mutable bool is_whole_ = false;
};

}  // namespace

pop::Result<std::unique_ptr<const Node>> cachedInMemory(std::unique_ptr<const Node> below) {
  const Extent elements = below->extent();
  if (elements == Extent(kEndless))
    return pop::failedPrecondition("the dataset has no end: put cache() before repeat()");
  if (!elements || below->isSequence())
    return std::unique_ptr<const Node>(std::make_unique<CachedSequence>(std::move(below)));
  return std::unique_ptr<const Node>(std::make_unique<CachedRows>(std::move(below), *elements));
}

}  // namespace popdist::io
