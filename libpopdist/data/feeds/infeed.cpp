// SPDX-License-Identifier: Apache-2.0
// Infeed: checks, the choice of where data comes from, and the device's part of the input.
#include "popdist/infeed.hpp"

#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/dataset/access.h"
#include "libpopdist/data/feeds/feed.h"
#include "libpopdist/data/feeds/of_this_process.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

constexpr int kThreadsMax = 64;

pop::Status checkRange(const char* option, int value, int most) {
  if (value >= 1 && value <= most) return {};
  return pop::invalidArgument("InfeedOptions::" + std::string(option) + " is " + std::to_string(value) +
                              ", expected 1 to " + std::to_string(most));
}

pop::Status check(const InfeedOptions& options) {
  POP_RETURN_IF_ERROR(checkRange("replicas", options.replicas, kReplicasMax));
  POP_RETURN_IF_ERROR(checkRange("threads", options.threads, kThreadsMax));
  if (options.turn_timeout.count() < 0) {
    return pop::invalidArgument("InfeedOptions::turn_timeout is " +
                                std::to_string(options.turn_timeout.count()) + " ms, expected 0 or more");
  }
  if (!options.device_map) return {};
  if (!options.device_map->function) return pop::invalidArgument("InfeedOptions::device_map has no function");
  return tensor::checkElementSpec(options.device_map->batch, "the output of device_map");
}

std::unique_ptr<Feed> makeFeed(std::shared_ptr<const Node> node, const InfeedOptions& options, int depth) {
  const DataOptions data = options.data ? *options.data : DataOptions::fromEnvironment();
  if (data.infeeds && data.kind == DataKind::kSynthetic)
    return synthetic(std::move(node), options.replicas, data.initialiser);
  if (data.infeeds && data.kind == DataKind::kGenerated) node = generatedLike(node, data.initialiser);
  return prefetched(std::move(node), depth, options);
}

/// The feed of an instance's replicas, after the device's part of it.
class FeedOfInstance {
 public:
  FeedOfInstance(std::shared_ptr<const Node> node, InfeedOptions options, int depth)
      : node_(std::move(node)), options_(std::move(options)) {
    throwIfError(check(options_), "Infeed");
    feed_ = makeFeed(node_, options_, depth);
    if (!options_.device_map) return;
    for (int i = 0; i < options_.replicas; ++i) mapped_.emplace_back(options_.device_map->batch);
  }

  const Spec& spec() const { return options_.device_map ? options_.device_map->batch : node_->spec(); }

  int replicas() const { return options_.replicas; }
  std::string shared(const Everybody& of) const { return node_->shared(of); }

  std::optional<std::uint64_t> steps() const {
    const Extent all = node_->extent();
    return !all || *all == kEndless ? all : Extent(*all / static_cast<std::uint64_t>(options_.replicas));
  }

  void start(Position position) {
    if (position.step > kEndless / static_cast<std::uint64_t>(options_.replicas) / 2)
      throwIfError(pop::invalidArgument("there is no step " + std::to_string(position.step)), "Infeed.start");
    feed_->start(position);
  }

  const Tensors* next(int replica) {
    checkReplica(replica, "Infeed.next");
    pop::Result<const Tensors*> element = feed_->next(replica);
    throwIfError(element.status(), "Infeed.next");
    if (*element == nullptr || !options_.device_map) return *element;
    Tensors& mapped = mapped_[static_cast<std::size_t>(replica)];
    options_.device_map->function((*element)->refs(), mapped.refs());
    return &mapped;
  }

  Position position(int replica) const {
    checkReplica(replica, "Infeed.position");
    return feed_->position(replica);
  }
  std::uint64_t bytesFed() const { return feed_->bytesFed(); }

 private:
  void checkReplica(int replica, const char* function) const {
    if (replica >= 0 && replica < options_.replicas) return;
    throwIfError({pop::Code::kOutOfRange, "there is no replica " + std::to_string(replica) + " among the " +
                                              std::to_string(options_.replicas) + " of this infeed"},
                 function);
  }

  const std::shared_ptr<const Node> node_;
  const InfeedOptions options_;
  std::unique_ptr<Feed> feed_;
  std::vector<Tensors> mapped_;  // one for each replica
};

}  // namespace

class Infeed::Impl : public OfThisProcess<FeedOfInstance> {
  using OfThisProcess::OfThisProcess;
};

Infeed::Infeed(Dataset dataset, InfeedOptions options) {
  const int depth = DatasetAccess::prefetchDepth(dataset);
  std::shared_ptr<const Node> node = DatasetAccess::take(dataset, "Infeed");
  impl_ = std::make_unique<Impl>("infeed", std::move(node), std::move(options), depth);
}
Infeed::~Infeed() = default;
Infeed::Infeed(Infeed&&) noexcept = default;
Infeed& Infeed::operator=(Infeed&&) noexcept = default;

const Spec& Infeed::spec() const {
  return impl_->constant().spec();
}
int Infeed::replicas() const {
  return impl_->constant().replicas();
}
std::string Infeed::shared(int instances, int replicas) const {
  return impl_->constant().shared(
      {static_cast<std::uint64_t>(instances), static_cast<std::uint64_t>(replicas)});
}
std::optional<std::uint64_t> Infeed::steps() const {
  return impl_->get("Infeed.steps").steps();
}
void Infeed::start(Position position) {
  impl_->get("Infeed.start").start(position);
}
const Tensors* Infeed::next(int replica) {
  return impl_->get("Infeed.next").next(replica);
}
Position Infeed::position(int replica) const {
  return impl_->get("Infeed.position").position(replica);
}
std::uint64_t Infeed::bytesFed() const {
  return impl_->get("Infeed.bytesFed").bytesFed();
}

}  // namespace popdist::io
