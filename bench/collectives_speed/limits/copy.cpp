// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/reduce/copy.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench/collectives_speed/limits/limits.h"

namespace pop::bench::collectives {
namespace {

using Clock = std::chrono::steady_clock;
using Copy = void (*)(void* to, const void* from, std::size_t bytes);

constexpr double kBatchSeconds = 0.005;

void copyByString(void* to, const void* from, std::size_t bytes) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  std::memcpy(to, from, bytes);
#endif
}

void copyByLibrary(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

struct Way {
  const char* name;
  Copy copy;
};
constexpr Way kWays[] = {{"memcpy", copyByLibrary},
                         {"rep movsb", copyByString},
                         {"copyCached", popdist::reduce::copyCached},
                         {"copyStreaming", popdist::reduce::copyStreaming}};

// Touched first by the thread that uses it, and not zero, since zeros are cheaper to store than data.
class Memory {
 public:
  explicit Memory(std::size_t bytes)
      : memory_(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)) {
    std::memset(memory_.get(), 1, bytes);
  }
  void* get() const { return memory_.get(); }

 private:
  static constexpr std::size_t kPage = 4096;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
};

double secondsOf(Copy copy, const Memory& to, const Memory& from, std::size_t bytes, int times) {
  const auto begin = Clock::now();
  for (int i = 0; i < times; ++i) copy(to.get(), from.get(), bytes);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

// Rate of a batch: bytes of all threads divided by the longest time of any thread.
std::vector<Series> copyRates(std::size_t bytes, int batches) {
  const std::size_t threads = coreCount();
  std::vector<Series> rates;
  for (const Way& way : kWays) rates.push_back({way.name, {}});
  std::barrier<> together(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> seconds(threads);
  int times = 1;
  onCores(threads, false, [&](std::size_t thread) {
    const Memory from(bytes), to(bytes);
    for (std::size_t way = 0; way < std::size(kWays); ++way) {
      // The first batch only determines the number of copies in a batch.
      for (int batch = -1; batch < batches; ++batch) {
        together.arrive_and_wait();
        seconds[thread] = secondsOf(kWays[way].copy, to, from, bytes, batch < 0 ? 3 : times);
        together.arrive_and_wait();
        if (thread != 0) continue;
        const double longest = *std::max_element(seconds.begin(), seconds.end());
        if (batch < 0)
          times = std::max(1, static_cast<int>(3 * kBatchSeconds / longest));
        else
          rates[way].values.push_back(static_cast<double>(threads * bytes) * times / longest / 1e9);
      }
    }
  });
  return rates;
}

}  // namespace pop::bench::collectives
