// SPDX-License-Identifier: Apache-2.0
// The shared heap where the host's memory is full: beyond the end of a segment's file there is none.
#include "libpopdist/collectives/context/shared_heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "common/sys/memfd.h"

namespace popdist::context {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSegmentBytes = 64 * kMiB;

class SharedHeapOfAFullHost : public ::testing::Test {
 protected:
  SharedHeapOfAFullHost() {
    setMemory(kSegmentBytes);
    pop::contract::initialiseSegment(segment_.data(), kSegmentBytes, 1);
  }

  void setMemory(std::size_t bytes) const {
    ASSERT_EQ(::ftruncate(file_.get(), static_cast<off_t>(bytes)), 0);
  }
  std::size_t bytesInUse() const {
    struct stat status {};
    EXPECT_EQ(::fstat(file_.get(), &status), 0);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  }
  std::size_t bytesTaken() const { return view_.header()->next_free.load(); }

 private:
  const pop::sys::Fd file_{::memfd_create("segment", MFD_CLOEXEC)};
  const pop::sys::Mapping segment_ = pop::sys::mapShared(file_.get(), kSegmentBytes).value();

 protected:
  const transport::SegmentView view_{segment_.data(), kSegmentBytes};
  SharedHeap heap{view_};
};

TEST_F(SharedHeapOfAFullHost, GivesBackWhatItCouldNotFill) {
  const std::size_t before = bytesInUse();
  setMemory(8 * kMiB);
  const pop::Result<void*> refused = heap.allocate(16 * kMiB);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), pop::Code::kResourceExhausted) << refused.status().message();
  EXPECT_EQ(bytesInUse(), before);
}

TEST_F(SharedHeapOfAFullHost, UsesLaterWhatItCouldNotFill) {
  setMemory(8 * kMiB);
  ASSERT_FALSE(heap.allocate(16 * kMiB).ok());
  const std::size_t taken = bytesTaken();
  setMemory(kSegmentBytes);
  for (int part = 0; part < 2; ++part) {
    const pop::Result<void*> memory = heap.allocate(8 * kMiB);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    std::memset(memory.value(), 1, 8 * kMiB);
    EXPECT_EQ(bytesTaken(), taken) << "part " << part;
  }
}

}  // namespace
}  // namespace popdist::context
