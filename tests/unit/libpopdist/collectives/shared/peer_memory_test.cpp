// SPDX-License-Identifier: Apache-2.0
// Reading from real processes: a child that lives, that has ended, and that is not the one that was meant.
#include "libpopdist/collectives/shared/peer_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <vector>

#include "tests/testing/forbidden_call.h"

namespace popdist::shared {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::size_t kPageBytes = 4096;

// A process of its own that runs `body` and tells its result; it then waits for its end.
template <typename Result>
class Child {
 public:
  explicit Child(const std::function<Result()>& body) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const Result result = body();
      if (::write(pipe[1], &result, sizeof(result)) != sizeof(result)) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(pipe[1]);
    there_ = ::read(pipe[0], &result_, sizeof(result_)) == sizeof(result_);
    ::close(pipe[0]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  bool isThere() const { return there_; }
  const Result& result() const { return result_; }

 private:
  pid_t pid_ = -1;
  bool there_ = false;
  Result result_{};
};

class PeerMemory : public ::testing::Test {
 protected:
  ~PeerMemory() override { ::munmap(memory_, 3 * kPageBytes); }

  void SetUp() override {
    ASSERT_TRUE(child_.isThere());
    if (const pop::Status read = readFrom(child_.result(), 0, nullptr, 0); !read.ok())
      GTEST_SKIP() << "this system does not let a process read its child: " << read.message();
  }

  // The same address there and here.
  pop::Status read(std::size_t offset, std::size_t bytes) {
    seen_.assign(bytes, std::byte{0});
    return readFrom(child_.result(), reinterpret_cast<std::uintptr_t>(memory_ + offset), seen_.data(), bytes);
  }

  // Three pages, the last of which cannot be read.
  static std::byte* pages() {
    auto* const memory = static_cast<std::byte*>(
        ::mmap(nullptr, 3 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(memory + 2 * kPageBytes, kPageBytes, PROT_NONE);
    return memory;
  }

  std::byte* const memory_ = pages();
  Child<ProcessMark> child_{[this] {
    for (std::size_t i = 0; i < 2 * kPageBytes; ++i) memory_[i] = std::byte{7};
    return ownMark();
  }};
  std::vector<std::byte> seen_;
};

TEST_F(PeerMemory, IsReadWhereItIs) {
  ASSERT_TRUE(read(5, 2 * kPageBytes - 5).ok());
  EXPECT_THAT(seen_, Each(std::byte{7}));
  EXPECT_EQ(memory_[5], std::byte{0});
  EXPECT_FALSE(isThisProcess(child_.result()));
  EXPECT_TRUE(isThisProcess(ownMark()));
}

TEST_F(PeerMemory, ThatIsThereInPartIsAnError) {
  for (const std::size_t offset : {kPageBytes, 2 * kPageBytes}) {
    const pop::Status status = read(offset, kPageBytes + 1);
    EXPECT_EQ(status.code(), pop::Code::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("Bad address"));
  }
}

TEST_F(PeerMemory, OfAProcessThatHasEndedIsAnError) {
  child_.end();
  const pop::Status status = read(0, 1);
  EXPECT_EQ(status.code(), pop::Code::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("process " + std::to_string(child_.result().pid)));
  EXPECT_THAT(status.message(), HasSubstr("No such process"));
}

TEST_F(PeerMemory, OfAnotherProcessUnderThePidIsAnError) {
  ProcessMark meant = child_.result();
  meant.word ^= 1;
  EXPECT_THAT(readFrom(meant, 0, nullptr, 0).message(), HasSubstr("another process has this pid"));
}

TEST_F(PeerMemory, WhoseReadingIsForbiddenIsAnError) {
  const Child<std::array<char, 200>> forbidden([own = ownMark()] {
    std::array<char, 200> text{};
    if (!pop::testing::forbidSystemCall(SYS_process_vm_readv)) return text;
    readFrom(own, 0, nullptr, 0).message().copy(text.data(), text.size() - 1);
    return text;
  });
  ASSERT_TRUE(forbidden.isThere());
  EXPECT_THAT(forbidden.result().data(), HasSubstr("Operation not permitted"));
}

TEST(OwnMemory, CanBeReadByOthersWhereTheSystemReadsItsEnds) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(memory);
  if (!canRead(bytes, 2 * page)) GTEST_SKIP() << "this system does not let a process read by it";
  ASSERT_EQ(::mprotect(bytes + page, page, PROT_NONE), 0);
  EXPECT_TRUE(canRead(bytes, page));
  EXPECT_FALSE(canRead(bytes, page + 1));
  EXPECT_FALSE(canRead(bytes + page, 1));
  EXPECT_TRUE(canRead(nullptr, 0));
  ::munmap(memory, 2 * page);
}

}  // namespace
}  // namespace popdist::shared
