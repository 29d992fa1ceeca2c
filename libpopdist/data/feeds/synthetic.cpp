// SPDX-License-Identifier: Apache-2.0
// Data that no dataset gives: made once, the same for every step.
#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/dataset/row_layout.h"
#include "libpopdist/data/feeds/feed.h"

namespace popdist::io {
namespace {

constexpr std::uint64_t kSeed = 0;

/// For ever, where it is not known how many there are.
std::uint64_t elementsLike(const Node& node) {
  return node.isSequence() ? kEndless : node.extent().value_or(kEndless);
}

class Synthetic final : public Feed {
 public:
  Synthetic(const std::shared_ptr<const Node>& node, int replicas, const Initialiser& initialiser)
      : element_(node->spec()), steps_(elementsLike(*node)), taken_(static_cast<std::size_t>(replicas)) {
    if (steps_ != kEndless) steps_ /= taken_.size();
    initialise(element_.refs(), initialiser, kSeed);
  }

  void start(Position position) override {
    epoch_ = position.epoch;
    for (auto& taken : taken_) taken = position.step;
  }
  pop::Result<const Tensors*> next(int replica) override {
    auto& taken = taken_[static_cast<std::size_t>(replica)];
    if (taken >= steps_) return static_cast<const Tensors*>(nullptr);
    ++taken;
    return &std::as_const(element_);
  }
  Position position(int replica) const override {
    return {epoch_, taken_[static_cast<std::size_t>(replica)]};
  }
  std::uint64_t bytesFed() const override { return 0; }

 private:
  Tensors element_;
  std::uint64_t steps_;
  std::atomic<std::uint64_t> epoch_{0};
  std::vector<std::atomic<std::uint64_t>> taken_;
};

/// As many elements as `below` has, all the same.
class Generated final : public AddressedSource {
 public:
  Generated(const std::shared_ptr<const Node>& below, const Initialiser& initialiser)
      : AddressedSource(elementsLike(*below)), element_(below->spec()), layout_(below->spec()) {
    initialise(element_.refs(), initialiser, kSeed);
  }

  const Spec& spec() const override { return element_.spec(); }
  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    for (std::size_t i = 0; i < layout_.tensors(); ++i)
      std::copy_n(element_.at(i).bytes().data(), layout_.bytes(i), row[i]);
    return true;
  }

  std::string description() const override { return "generated(" + textOf(spec()) + ')'; }

 private:
  Tensors element_;
  RowLayout layout_;
};

}  // namespace

std::unique_ptr<Feed> synthetic(std::shared_ptr<const Node> node, int replicas,
                                const Initialiser& initialiser) {
  return std::make_unique<Synthetic>(node, replicas, initialiser);
}

std::shared_ptr<const Node> generatedLike(const std::shared_ptr<const Node>& node,
                                          const Initialiser& initialiser) {
  return std::make_shared<Generated>(node, initialiser);
}

}  // namespace popdist::io
