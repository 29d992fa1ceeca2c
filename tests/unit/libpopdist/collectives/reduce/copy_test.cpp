// SPDX-License-Identifier: Apache-2.0
// Copies of every length up to several vectors, between addresses that differ in their last bits.
#include "libpopdist/collectives/reduce/copy.h"

#include <gtest/gtest.h>

#include "tests/unit/libpopdist/collectives/reduce/fold_arrays.h"

namespace popdist::reduce {
namespace {

template <typename From>
void expectCopies(void (*copy)(void*, From*, std::size_t)) {
  for (std::size_t bytes = 0; bytes < 700; bytes = bytes < 140 ? bytes + 1 : bytes + 37) {
    const auto content = anyElements<std::uint8_t>(bytes, bytes);
    GuardedArray<std::uint8_t> from(content, bytes % 64);
    for (const std::size_t offset : {0U, 1U, 3U, 32U, 63U}) {
      GuardedArray<std::uint8_t> to(bytes, offset);
      copy(to.data(), from.data(), bytes);
      ASSERT_EQ(to.elements(), content) << bytes;
      ASSERT_TRUE(to.guardsHold()) << bytes;
      ASSERT_EQ(from.elements(), content) << bytes;
      ASSERT_TRUE(from.guardsHold()) << bytes;
    }
  }
}

TEST(Copy, CachedCopiesEveryByteAndNoOther) {
  expectCopies(copyCached);
}
TEST(Copy, WritingBackCopiesEveryByteAndNoOther) {
  expectCopies(copyWritingBack);
}
TEST(Copy, StreamingCopiesEveryByteAndNoOther) {
  expectCopies(copyStreaming);
}

}  // namespace
}  // namespace popdist::reduce
