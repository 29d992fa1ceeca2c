// SPDX-License-Identifier: Apache-2.0
// A rank that stands still while it works in another's buffer, until that one has given up and uses the
// buffer for something else: what it has copied then is wrong, and must not pass for a result; and little
// more may be written there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "popdist/pod.hpp"
#include "tests/contract/closed_pages.h"
#include "tests/contract/ways.h"
#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr std::size_t kBytes = std::size_t{1} << 20;

// Private memory, closed.
class ClosedMemory {
 public:
  ClosedMemory()
      : memory_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        closed_(memory_, kBytes) {}
  ~ClosedMemory() { ::munmap(memory_, kBytes); }
  ClosedMemory(const ClosedMemory&) = delete;
  ClosedMemory& operator=(const ClosedMemory&) = delete;

  void* data() const { return memory_; }

 private:
  void* const memory_;
  const ClosedPages closed_;
};

class LateReader : public ::testing::TestWithParam<std::string> {
 protected:
  static const Way& way() { return wayNamed(GetParam()); }
};

TEST_P(LateReader, DoesNotTakeWhatOthersHaveGivenUp) {
  const WayTaken taken(way());
  const ClosedMemory received;
  ThreadGroup group(shapeOf(way(), 2));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    if (world.rank() == 0) {
      const bool mapped = GetParam() == "direct";
      const auto own = std::make_unique<std::byte[]>(kBytes);
      const Buffer shared(context, kBytes);
      const std::span sent(mapped ? shared.as<std::byte>() : own.get(), kBytes);
      const Reported report = reportOf(
          [&] { world.broadcast(sent.data(), kBytes, Type::kUint8, 0, {.timeout = Milliseconds(50)}); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      std::fill(sent.begin(), sent.end(), std::byte{7});
      ClosedPages::open();
      context.fence();
      return;
    }
    const Reported report = reportOf(
        [&] { world.broadcast(received.data(), kBytes, Type::kUint8, 0, {.timeout = kLongTimeout}); });
    EXPECT_THAT(report.what,
                HasSubstr("rank 0 aborted the call: the deadline has passed, waiting for rank 1"));
    context.fence();
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, LateReader, ::testing::Values("direct", "pull"),
                         [](const auto& tested) { return tested.param; });

// Two ranks: each writes half of a vector to both, or the root half of it to the other.
class LateWriter : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::size_t kVectorBytes = 8 * kBytes;

  static void carryOut(Context& context, Pod& pod, void* data, Milliseconds timeout) {
    context.setTimeout(timeout);
    Communicator& world = context.world();
    if (GetParam() == "broadcast") return world.broadcast(data, kVectorBytes, Type::kUint8, 1);
    if (GetParam() == "pod") return pod.allReduceSum({&data, 1}, kVectorBytes, Type::kUint8);
    world.allReduce(data, data, kVectorBytes, Type::kUint8, Operator::kSum);
  }
  static void* firstPageOfLaterHalf(const Buffer& vector) {
    return ClosedPages::firstIn(vector.as<std::byte>() + kVectorBytes / 2);
  }
};

TEST_P(LateWriter, WritesLittleMoreWhereOthersHaveGivenUp) {
  const WayTaken taken(wayNamed("direct"));
  ThreadGroup group(shapeOf(wayNamed("direct"), 2));
  group.run([&](Context& context) {
    Pod pod(context);
    const Buffer vector(context, kVectorBytes);
    const std::span all(vector.as<std::byte>(), kVectorBytes);
    std::fill(all.begin(), all.end(), std::byte{1});
    std::optional<ClosedPages> closed;
    if (context.instanceIndex() == 1) closed.emplace(firstPageOfLaterHalf(vector), ClosedPages::kPageBytes);
    context.fence();
    if (context.instanceIndex() == 0) {
      const Reported report = reportOf([&] { carryOut(context, pod, vector.data(), Milliseconds(50)); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      std::fill(all.begin(), all.end(), std::byte{7});
      ClosedPages::open();
    } else {
      const Reported report = reportOf([&] { carryOut(context, pod, vector.data(), kLongTimeout); });
      EXPECT_THAT(report.what, HasSubstr("rank 0 aborted the call"));
    }
    context.setTimeout(kLongTimeout);
    context.fence();
    if (context.instanceIndex() == 0) {
      EXPECT_GE(std::count(all.begin(), all.end(), std::byte{7}),
                static_cast<std::ptrdiff_t>(kVectorBytes - kBytes));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Calls, LateWriter, ::testing::Values("allReduce", "broadcast", "pod"),
                         [](const auto& tested) { return tested.param; });

// A Pod's stage, while another instance writes sums there, is not given to the next who asks for memory.
TEST(LateWriterToAPod, WritesToNobodyElsesMemory) {
  ThreadGroup group(shapeOf(wayNamed("staged"), 2));
  group.run([&](Context& context) {
    std::optional<Pod> pod(context);
    std::vector<std::byte> tensor(kBytes, std::byte{1});
    void* const data = tensor.data();
    std::optional<ClosedPages> closed;
    // A page of the first chunk's later half, which the later instance sums for both.
    constexpr std::size_t kChunkBytes = 256 << 10;
    if (context.instanceIndex() == 1)
      closed.emplace(ClosedPages::firstIn(tensor.data() + kChunkBytes / 2), ClosedPages::kPageBytes);
    context.fence();
    std::optional<Buffer> next;
    if (context.instanceIndex() == 0) {
      context.setTimeout(Milliseconds(50));
      const Reported report = reportOf([&] { pod->allReduceSum({&data, 1}, kBytes, Type::kUint8); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      pod.reset();
      next.emplace(context, 3 * kChunkBytes);
      std::fill_n(next->as<std::byte>(), next->bytes(), std::byte{7});
      ClosedPages::open();
    } else {
      const Reported report = reportOf([&] { pod->allReduceSum({&data, 1}, kBytes, Type::kUint8); });
      EXPECT_THAT(report.what, HasSubstr("rank 0 aborted the call"));
    }
    context.setTimeout(kLongTimeout);
    context.fence();
    if (next) {
      EXPECT_EQ(std::count(next->as<std::byte>(), next->as<std::byte>() + next->bytes(), std::byte{7}),
                static_cast<std::ptrdiff_t>(next->bytes()));
    }
  });
}

}  // namespace
}  // namespace popdist::contract
