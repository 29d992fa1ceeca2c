// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/ranks/protocol.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pop::bench::collectives {
namespace {

/// A rank alone, which gathers what it has so many times, and does nothing from then on.
class TiringMember : public Member {
 public:
  explicit TiringMember(int gathers) : gathers_left_(gathers) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void allReduce(void*, std::size_t) override {}
  void broadcast(void*, std::size_t, int) override {}
  void allGather(const void* in, void* out, std::size_t count) override {
    if (gathers_left_ == 0) return;
    --gathers_left_;
    std::memcpy(out, in, count * sizeof(float));
  }
  void* reduceScatter(void*, void* out, std::size_t) override { return out; }
  void allToAll(const void*, void*, std::size_t) override {}
  void barrier() override {}

 private:
  int gathers_left_;
};

TEST(Protocol, AnOperationThatIsRightOnlyBeforeItIsTimedIsFoundOut) {
  TiringMember member(1);
  const Task task{.operation = Operation::kAllGather, .bytes = 64, .batches = 1};
  EXPECT_EXIT(measure(member, task), ::testing::ExitedWithCode(1), "wrong result of all-gather");
}

}  // namespace
}  // namespace pop::bench::collectives
