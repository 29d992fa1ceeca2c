// SPDX-License-Identifier: Apache-2.0
#include "common/sys/cores.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "common/sys/fd.h"

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

int countCores() {
  const Result<std::vector<int>> threads = usableCores();
  if (!threads.ok()) return 1;
  std::set<std::string> cores;  // each by its threads, "0,64"; one of which nothing is known by itself
  for (const int thread : threads.value()) {
    const std::string number = std::to_string(thread);
    Result<std::string> siblings =
        readFile("/sys/devices/system/cpu/cpu" + number + "/topology/thread_siblings_list");
    cores.insert(siblings.ok() ? std::move(siblings).value() : "only " + number);
  }
  return std::max(static_cast<int>(cores.size()), 1);
}

void moveTo(const std::vector<int>& cores) {
  const Result<std::vector<int>> before = usableCores();
  if (!before.ok() || cores.empty()) return;
  useOnly(cores);
  useOnly(before.value());
}

}  // namespace pop::sys
