// SPDX-License-Identifier: Apache-2.0
// The most memory that a piece of code had at once. Programs that link this have an operator new that counts.
#pragma once

#include <cstddef>

namespace pop::testing {

/// One at a time; counts what all threads allocate.
class AllocationPeak {
 public:
  AllocationPeak();

  /// The most bytes at once since the construction, beyond those that were allocated then.
  std::size_t bytes() const;

 private:
  std::size_t before_;
};

}  // namespace pop::testing
