// SPDX-License-Identifier: Apache-2.0
#include "common/sys/cores.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>

namespace pop::sys {
namespace {

using Word = unsigned long;
constexpr std::size_t kWordBits = CHAR_BIT * sizeof(Word);

void useOnly(const std::vector<int>& cores) {
  std::vector<Word> words;
  for (const int core : cores) {
    const auto bit = static_cast<std::size_t>(core);
    if (words.size() <= bit / kWordBits) words.resize(bit / kWordBits + 1);
    words[bit / kWordBits] |= Word{1} << (bit % kWordBits);
  }
  ::syscall(SYS_sched_setaffinity, 0, words.size() * sizeof(Word), words.data());
}

}  // namespace

int currentCore() {
  return ::sched_getcpu();
}

Result<std::vector<int>> usableCores() {
  // The kernel refuses a mask that is smaller than its own.
  for (std::vector<Word> words(1024 / kWordBits);; words.resize(2 * words.size())) {
    const long bytes = ::syscall(SYS_sched_getaffinity, 0, words.size() * sizeof(Word), words.data());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && (errno != EINVAL || words.size() > 4096))
      return errnoStatus("asking for the CPUs that this process may use", errno);
    if (bytes < 0) continue;
    std::vector<int> cores;
    for (std::size_t bit = 0; bit < static_cast<std::size_t>(bytes) * CHAR_BIT; ++bit) {
      if ((words[bit / kWordBits] >> (bit % kWordBits) & 1U) != 0) cores.push_back(static_cast<int>(bit));
    }
    return cores;
  }
}

void moveTo(const std::vector<int>& cores) {
  const Result<std::vector<int>> before = usableCores();
  if (!before.ok() || cores.empty()) return;
  useOnly(cores);
  useOnly(before.value());
}

}  // namespace pop::sys
