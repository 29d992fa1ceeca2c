// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/allowed_cpus.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

namespace pop::agent {

Result<model::CpuSet> allowedCpus() {
  constexpr std::size_t kWordBits = CHAR_BIT * sizeof(unsigned long);
  // The kernel rejects a mask that is smaller than its own.
  for (std::vector<unsigned long> words(1024 / kWordBits);; words.resize(2 * words.size())) {
    const long bytes =
        ::syscall(SYS_sched_getaffinity, 0, words.size() * sizeof(unsigned long), words.data());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && (errno != EINVAL || words.size() > 4096))
      return errnoStatus("reading which CPUs poprun may use", errno);
    if (bytes < 0) continue;
    std::vector<int> cpus;
    for (std::size_t bit = 0; bit < static_cast<std::size_t>(bytes) * CHAR_BIT; ++bit) {
      if ((words[bit / kWordBits] >> (bit % kWordBits) & 1U) != 0) cpus.push_back(static_cast<int>(bit));
    }
    return model::CpuSet(std::move(cpus));
  }
}

}  // namespace pop::agent
