// SPDX-License-Identifier: Apache-2.0
// A step of a dataset's pipeline. Elements are functions of (epoch, index) and nothing else, so that any
// thread may read any of them, resuming is a number, and a step is index arithmetic around a read of the step
// below. A sequence fits in: its reads come in ascending order, and going back starts it anew.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "popdist/dataset.hpp"
#include "popdist/tensor.hpp"

namespace popdist::io {

/// Destination of an element: an address for each tensor of the node's spec.
using Row = std::byte* const*;

/// One pass over the elements.
struct Pass {
  std::uint64_t epoch = 0;
  const std::atomic<bool>* cancelled = nullptr;  ///< once true, a read may give up and return false

  bool isCancelled() const { return cancelled != nullptr && cancelled->load(std::memory_order_relaxed); }
  Pass ofEpoch(std::uint64_t other) const { return {other, cancelled}; }
};

/// Elements of a pass: nothing while unknown, kEndless for ever.
using Extent = std::optional<std::uint64_t>;
inline constexpr std::uint64_t kEndless = Dataset::kEndless;

/// The job's readers, to whom elements may be dealt out.
struct Everybody {
  std::uint64_t instances = 1;
  std::uint64_t replicas = 1;
};

class Node {
 public:
  virtual ~Node() = default;

  /// The tensors of one element.
  virtual const Spec& spec() const = 0;
  virtual Extent extent() const = 0;

  /// Elements of the source that a pass of this many elements leaves out.
  virtual Extent dropped() const = 0;

  /// Reads must come in ascending order, from one thread at a time.
  virtual bool isSequence() const = 0;

  /// shuffle() lies here or below, without a batch above it.
  virtual bool isShuffled() const { return false; }

  /// Elements of the source in one of these: more than 1 in a batch.
  virtual std::uint64_t rows() const { return 1; }

  /// True for padded batches, whose tensor kWeightTensor is 0 for rows that hold nothing.
  virtual bool isPadded() const { return false; }

  /// The pipeline in words, each source and step with its arguments: others have other words, but for what a
  /// step cannot tell, such as functions of the user and the values of generators.
  virtual std::string description() const = 0;

  /// The difference from the same pipeline of other instances, for names of files: ".shard-0-of-2", or
  /// nothing if all have the same.
  virtual std::string part() const { return {}; }

  /// The steps in words, without the sources, whose files may lie elsewhere on each instance.
  virtual std::string commonSteps() const { return "elements"; }

  /// Facts of the last step that deals elements out to as many, which all of them must have in common; else
  /// nothing.
  virtual std::string shared(const Everybody&) const { return {}; }

  /// Writes element `index`. False: the pass has fewer, or it is cancelled. Lets through what functions of
  /// the user throw.
  virtual bool read(const Pass& pass, std::uint64_t index, Row row) const = 0;

  /// Element `index` will be read soon, if there is one: a source may have its memory fetched meanwhile. Has
  /// no other effect.
  virtual void willRead(const Pass& /*pass*/, std::uint64_t /*index*/) const {}

  /// The pass is over: a sequence looks whether it has as many elements as the passes before, though steps
  /// above may have left out its last ones. Throws where it has not.
  virtual void finish(const Pass& /*pass*/) const {}
};

/// The start of a pipeline whose elements are addressed: nothing is left out, any of them can be read.
class AddressedSource : public Node {
 public:
  explicit AddressedSource(std::uint64_t elements) : elements_(elements) {}

  Extent extent() const override { return elements_; }
  Extent dropped() const override { return 0; }
  bool isSequence() const override { return false; }
  std::string commonSteps() const override { return std::to_string(elements_) + " elements"; }

 protected:
  bool has(std::uint64_t index) const { return index < elements_; }
  std::uint64_t elements() const { return elements_; }

 private:
  std::uint64_t elements_;
};

/// A step with one below it that keeps its tensors: says of itself what that says.
class Step : public Node {
 public:
  explicit Step(std::unique_ptr<const Node> below) : below_(std::move(below)) {}

  const Spec& spec() const override { return below_->spec(); }
  Extent extent() const override { return below_->extent(); }
  Extent dropped() const override { return below_->dropped(); }
  bool isSequence() const override { return below_->isSequence(); }
  bool isShuffled() const override { return below_->isShuffled(); }
  std::uint64_t rows() const override { return below_->rows(); }
  bool isPadded() const override { return below_->isPadded(); }
  std::string description() const override { return below_->description() + ownDescription(); }
  std::string part() const override { return below_->part(); }
  void finish(const Pass& pass) const override { below_->finish(pass); }
  std::string commonSteps() const override { return below_->commonSteps() + commonDescription(); }
  std::string shared(const Everybody& of) const override { return below_->shared(of); }

 protected:
  const Node& below() const { return *below_; }
  /// ".take(5)"; nothing where it changes no element.
  virtual std::string ownDescription() const = 0;
  /// Without what may be another on each instance.
  virtual std::string commonDescription() const { return ownDescription(); }

 private:
  std::unique_ptr<const Node> below_;
};

}  // namespace popdist::io
