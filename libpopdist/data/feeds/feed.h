// SPDX-License-Identifier: Apache-2.0
// The source of an infeed's elements, seen by the replicas.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"
#include "popdist/infeed.hpp"

namespace popdist::io {

inline constexpr int kReplicasMax = 1 << 16;  // limit for an infeed, or for an outfeed

class Feed {
 public:
  virtual ~Feed() = default;

  virtual void start(Position position) = 0;
  /// nullptr: the pass is over.
  virtual pop::Result<const Tensors*> next(int replica) = 0;
  virtual Position position(int replica) const = 0;
  virtual std::uint64_t bytesFed() const = 0;
};

/// Read by options.threads threads (a sequence by one), each replica `depth` elements ahead.
std::unique_ptr<Feed> prefetched(std::shared_ptr<const Node> node, int depth, const InfeedOptions& options);

/// The same tensors again and again, as many times as `node` has elements.
std::unique_ptr<Feed> synthetic(std::shared_ptr<const Node> node, int replicas,
                                const Initialiser& initialiser);

/// Elements that the host makes up once, of the same tensors as `node`'s and as many.
std::shared_ptr<const Node> generatedLike(const std::shared_ptr<const Node>& node,
                                          const Initialiser& initialiser);

}  // namespace popdist::io
