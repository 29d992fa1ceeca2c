// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/index_steps.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/dataset/permutation.h"
#include "libpopdist/data/dataset/row_layout.h"

namespace popdist::io {
namespace {

class Shuffled final : public Step {
 public:
  Shuffled(std::unique_ptr<const Node> below, std::uint64_t elements, std::uint64_t seed)
      : Step(std::move(below)), elements_(elements), seed_(seed), order_(elements) {}

  bool isShuffled() const override { return true; }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    if (index >= elements_) return false;
    return below().read(pass, order_.at(index, Permutation::keyOf(seed_, pass.epoch)), row);
  }

  void willRead(const Pass& pass, std::uint64_t index) const override {
    if (index < elements_) below().willRead(pass, order_.at(index, Permutation::keyOf(seed_, pass.epoch)));
  }

  std::string ownDescription() const override { return ".shuffle(" + std::to_string(seed_) + ')'; }

 private:
  std::uint64_t elements_;
  std::uint64_t seed_;
  Permutation order_;
};

class EveryOf final : public Step {
 public:
  EveryOf(std::unique_ptr<const Node> below, std::uint64_t count, std::uint64_t first)
      : Step(std::move(below)), count_(count), first_(first) {}

  Extent extent() const override {
    const Extent all = below().extent();
    if (!all || *all == kEndless) return all;
    return *all <= first_ ? 0 : (*all - first_ - 1) / count_ + 1;
  }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    return below().read(pass, index * count_ + first_, row);
  }

  void willRead(const Pass& pass, std::uint64_t index) const override {
    below().willRead(pass, index * count_ + first_);
  }

  std::string part() const override {
    return Step::part() +
           (isAll() ? "" : ".shard-" + std::to_string(first_) + "-of-" + std::to_string(count_));
  }
  std::string ownDescription() const override {
    return isAll() ? "" : ".shard(" + std::to_string(count_) + ", " + std::to_string(first_) + ')';
  }
  std::string commonDescription() const override {
    return isAll() ? "" : ".shard(" + std::to_string(count_) + ')';
  }
  std::string shared(const Everybody& of) const override {
    return isAll() || count_ != of.instances ? Step::shared(of) : commonSteps();
  }

 private:
  bool isAll() const { return count_ == 1; }

  std::uint64_t count_;
  std::uint64_t first_;
};

class RangeOf final : public Step {
 public:
  RangeOf(std::unique_ptr<const Node> below, std::uint64_t skipped, std::uint64_t elements)
      : Step(std::move(below)), skipped_(skipped), elements_(elements), has_all_(elements == 0) {}

  Extent extent() const override {
    const Extent all = below().extent();
    if (!all) return has_all_.load() ? Extent(elements_) : all;
    if (*all == kEndless) return elements_;
    return std::min(elements_, *all - std::min(*all, skipped_));
  }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    if (index >= elements_) {
      findEnd(pass);
      return false;
    }
    const bool is_beyond_counting = index > kEndless - skipped_;
    if (is_beyond_counting || !below().read(pass, index + skipped_, row)) return false;
    if (index + 1 == elements_) has_all_ = true;
    return true;
  }

  void willRead(const Pass& pass, std::uint64_t index) const override {
    if (index < elements_) below().willRead(pass, index + skipped_);
  }

  void finish(const Pass& pass) const override {
    const Extent all = below().extent();
    if (all && *all - std::min(*all, skipped_) <= elements_) below().finish(pass);
  }

  std::string ownDescription() const override {
    return (skipped_ == 0 ? "" : ".skip(" + std::to_string(skipped_) + ')') +
           (elements_ == kEndless ? "" : ".take(" + std::to_string(elements_) + ')');
  }

 private:
  /// A sequence may not have as many, or was not asked for the last one: steps above skip elements, too.
  void findEnd(const Pass& pass) const {
    if (has_all_.load() || below().extent() || elements_ - 1 > kEndless - skipped_) return;
    const RowLayout layout(spec());
    const ScratchRow unused(layout);
    if (below().read(pass, skipped_ + elements_ - 1, unused.row())) has_all_ = true;
  }

  std::uint64_t skipped_;
  std::uint64_t elements_;
  mutable std::atomic<bool> has_all_;  // for a sequence of unknown size: a pass had elements_
};

class Repeated final : public Step {
 public:
  Repeated(std::unique_ptr<const Node> below, std::uint64_t times) : Step(std::move(below)), times_(times) {}

  Extent extent() const override {
    const Extent all = below().extent();
    if (times_ == kEndless && all != Extent(0)) return kEndless;
    if (!all || *all == kEndless) return all;
    return isBeyondCounting(*all) ? kEndless : *all * times_;
  }

  /// Without an end, those of each pass.
  Extent dropped() const override {
    const Extent once = below().dropped();
    const bool is_endless = times_ == kEndless || extent() == Extent(kEndless);
    return once && !is_endless && !isBeyondCounting(*once) ? Extent(*once * times_) : once;
  }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    // A sequence whose size is not known is in its first pass until that has ended.
    Extent all = below().extent();
    if (!all) {
      if (below().read(pass.ofEpoch(firstEpoch(pass)), index, row)) return true;
      all = below().extent();
      if (!all) return false;  // cancelled
    }
    if (*all == 0) return false;
    const std::uint64_t number = index / *all;
    if (isSequence()) finishBefore(pass, number);
    if (number >= times_) return false;
    return below().read(pass.ofEpoch(firstEpoch(pass) + number), index % *all, row);
  }

  void finish(const Pass& pass) const override {
    if (times_ != kEndless) below().finish(pass.ofEpoch(firstEpoch(pass) + times_ - 1));
  }

  std::string ownDescription() const override {
    return ".repeat(" + (times_ == kEndless ? "" : std::to_string(times_)) + ')';
  }

 private:
  /// So many passes of `elements` are as good as passes for ever.
  bool isBeyondCounting(std::uint64_t elements) const {
    return elements != 0 && times_ > (kEndless - 1) / elements;
  }

  std::uint64_t firstEpoch(const Pass& pass) const {
    return times_ == kEndless ? pass.epoch : pass.epoch * times_;
  }

  void finishBefore(const Pass& pass, std::uint64_t number) const {
    if (number == latest_ + 1) below().finish(pass.ofEpoch(firstEpoch(pass) + latest_));
    latest_ = number;
  }

  std::uint64_t times_;
  mutable std::uint64_t latest_ = 0;  // pass of a sequence, which one thread reads at a time
};

class Dealt final : public Step {
 public:
  Dealt(std::unique_ptr<const Node> below, const InputContext& context)
      : Step(std::move(below)),
        layout_(spec()),
        replicas_(static_cast<std::uint64_t>(context.replicas)),
        first_(static_cast<std::uint64_t>(context.first_replica)),
        local_(static_cast<std::uint64_t>(context.local_replicas)),
        pads_(isPadded()) {
    if (!pads_ && !extent()) whole_.emplace(layout_, local_);
  }

  Extent extent() const override {
    const Extent all = below().extent();
    if (!all || *all == kEndless) return all;
    return steps(*all) * local_;
  }

  Extent dropped() const override {
    const Extent all = below().extent();
    const Extent before = below().dropped();
    if (!all || !before) return std::nullopt;
    if (*all == kEndless || pads_) return before;
    return *before + (*all - steps(*all) * replicas_) * rows();
  }

  bool read(const Pass& pass, std::uint64_t index, Row row) const override {
    const std::uint64_t step = index / local_;
    const Extent known = below().extent();
    if (known && step >= steps(*known)) {
      if (step == steps(*known)) below().finish(pass);
      return false;
    }
    if (whole_) return readWhole(pass, step, index % local_, row);
    if (below().read(pass, step * replicas_ + first_ + index % local_, row)) return true;
    const Extent all = below().extent();  // by now, if the pass has ended
    if (pass.isCancelled() || !pads_ || !all || step >= steps(*all)) return false;
    for (std::size_t i = 0; i < layout_.tensors(); ++i) std::fill_n(row[i], layout_.bytes(i), std::byte{0});
    return true;
  }

  std::string part() const override {
    return Step::part() + ".replicas-" + std::to_string(first_) + "-to-" +
           std::to_string(first_ + local_ - 1) + "-of-" + std::to_string(replicas_);
  }
  std::string ownDescription() const override {
    return ".forReplicas(" + std::to_string(first_) + " to " + std::to_string(first_ + local_ - 1) + " of " +
           std::to_string(replicas_) + ')';
  }
  std::string commonDescription() const override { return ".forReplicas(" + std::to_string(replicas_) + ')'; }
  std::string shared(const Everybody& of) const override {
    return replicas_ == of.replicas ? commonSteps() : Step::shared(of);
  }

 private:
  std::uint64_t steps(std::uint64_t elements) const {
    if (elements == kEndless) return elements;
    return elements / replicas_ + (pads_ && elements % replicas_ != 0 ? 1 : 0);
  }

  /// The local elements of one step.
  struct WholeStep {
    WholeStep(const RowLayout& layout, std::uint64_t count)
        : memory(std::make_unique_for_overwrite<std::byte[]>(layout.rowBytes() * count)) {
      for (std::uint64_t i = 0; i < count; ++i)
        rows.push_back(layout.at(memory.get() + i * layout.rowBytes()));
    }

    std::unique_ptr<std::byte[]> memory;
    std::vector<RowAddresses> rows;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> place;  // epoch and step
  };

  /// For a sequence of unknown size. All instances must find the same end, before they give a step's first
  /// element: a step that is not whole is none.
  bool readWhole(const Pass& pass, std::uint64_t step, std::uint64_t replica, Row row) const {
    const std::pair place(pass.epoch, step);
    if (whole_->place != place) {
      whole_->place.reset();
      if (!takeStep(pass, step)) return false;
      whole_->place = place;
    }
    layout_.copy(whole_->rows[replica].data(), row);
    return true;
  }

  bool takeStep(const Pass& pass, std::uint64_t step) const {
    for (std::uint64_t i = 0; i < local_; ++i)
      if (!below().read(pass, step * replicas_ + first_ + i, whole_->rows[i].data())) return false;
    if (first_ + local_ == replicas_) return true;
    const ScratchRow unused(layout_);
    return below().read(pass, step * replicas_ + replicas_ - 1, unused.row());
  }

  RowLayout layout_;
  std::uint64_t replicas_;
  std::uint64_t first_;
  std::uint64_t local_;
  bool pads_;
  mutable std::optional<WholeStep> whole_;  // for sequences, which one thread reads at a time
};

pop::Status checkContext(const InputContext& context) {
  if (context.pipelines < 1 || context.index < 0 || context.index >= context.pipelines)
    return pop::invalidArgument("there is no input pipeline " + std::to_string(context.index) + " of " +
                                std::to_string(context.pipelines));
  if (context.pipelines > context.replicas)
    return pop::invalidArgument(std::to_string(context.pipelines) + " input pipelines have " +
                                std::to_string(context.replicas) +
                                " replicas together, and each has at least one: set InputContext::replicas, "
                                "first_replica and local_replicas, or use InputContext::of()");
  if (context.replicas >= 1 && context.first_replica >= 0 && context.local_replicas >= 1 &&
      context.first_replica + context.local_replicas <= context.replicas)
    return {};
  return pop::invalidArgument("there are no replicas " + std::to_string(context.first_replica) + " to " +
                              std::to_string(context.first_replica + context.local_replicas - 1) + " of " +
                              std::to_string(context.replicas));
}

}  // namespace

NodeResult shuffled(std::unique_ptr<const Node> below, std::uint64_t seed) {
  const Extent elements = below->extent();
  if (below->isSequence()) {
    return pop::failedPrecondition(
        "the elements come in sequence, and which there are is not known: use shuffleBuffered(elements, "
        "seed), or cache() before it");
  }
  if (!elements || *elements == kEndless)
    return pop::failedPrecondition("the dataset has no end: put shuffle() before repeat()");
  return std::unique_ptr<const Node>(std::make_unique<Shuffled>(std::move(below), *elements, seed));
}

NodeResult everyOf(std::unique_ptr<const Node> below, int count, int index) {
  if (count < 1) return pop::invalidArgument("count is " + std::to_string(count) + ", expected 1 or more");
  if (index < 0 || index >= count) {
    return pop::invalidArgument("index is " + std::to_string(index) + ", expected 0 to " +
                                std::to_string(count - 1) + " (count - 1)");
  }
  return std::unique_ptr<const Node>(std::make_unique<EveryOf>(
      std::move(below), static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(index)));
}

NodeResult rangeOf(std::unique_ptr<const Node> below, std::uint64_t skipped, std::uint64_t elements) {
  return std::unique_ptr<const Node>(std::make_unique<RangeOf>(std::move(below), skipped, elements));
}

NodeResult repeated(std::unique_ptr<const Node> below, std::uint64_t times) {
  if (times < 1) return pop::invalidArgument("0 times, expected 1 or more; without an argument for ever");
  return std::unique_ptr<const Node>(std::make_unique<Repeated>(std::move(below), times));
}

NodeResult dealt(std::unique_ptr<const Node> below, const InputContext& context) {
  POP_RETURN_IF_ERROR(checkContext(context));
  const Extent all = below->extent();
  auto deal = std::make_unique<Dealt>(std::move(below), context);
  if (deal->extent() == Extent(0)) {
    return pop::invalidArgument("one step takes a micro batch for each of " +
                                std::to_string(context.replicas) + " replicas (global batch " +
                                std::to_string(context.replicas) + " x " + std::to_string(deal->rows()) +
                                "), and the dataset has " + std::to_string(*all) +
                                ": lower the micro batch (the rows of batch()) or the number of replicas");
  }
  return std::unique_ptr<const Node>(std::move(deal));
}

}  // namespace popdist::io
