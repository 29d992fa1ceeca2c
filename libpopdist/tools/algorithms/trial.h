// SPDX-License-Identifier: Apache-2.0
// One collective of one size, with its buffers, that can be called on any communicator of all instances.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libpopdist/collectives/plan/operation.h"
#include "popdist/buffer.hpp"

namespace popdist::algorithms {

/// The kind of memory of a call's buffers. kNone: it has none.
enum class Memory : std::uint8_t { kNone, kPrivate, kBuffer };

struct Task {
  plan::Operation operation = plan::Operation::kBarrier;
  std::size_t bytes = 0;  ///< bytes of a rank's larger buffer
  Memory memory = Memory::kPrivate;
};

class Trial {
 public:
  Trial(Context& context, const Task& task);

  /// `root` is used by operations that have one.
  void call(Communicator& communicator, int root) const;

  /// The size of the larger buffer: `task.bytes`, or one element for each block.
  std::size_t bytes() const { return elements_ * sizeof(float); }

 private:
  const plan::Operation operation_;
  const std::size_t count_;     ///< elements, as the API counts them
  const std::size_t elements_;  ///< bytes of the larger buffer
  std::vector<float> private_;
  std::optional<Buffer> shared_;
  float* in_ = nullptr;
  float* out_ = nullptr;
};

}  // namespace popdist::algorithms
