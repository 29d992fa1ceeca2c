// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/ranks/protocol.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/collectives_speed/ranks/values.h"
#include "bench/collectives_speed/series.h"

namespace pop::bench::collectives {
namespace {

constexpr double kBatchSeconds = 0.02;
constexpr double kLongEnoughSeconds = 0.005;  // to tell from it how many operations a batch takes
constexpr int kBatchesNotCounted = 5;         // schedulers may leave two ranks on one core for this long
constexpr std::uint32_t kGrowth = 8;          // of batches while warming up
constexpr double kSlowSeconds = 0.4;          // slower operations get only kBatchesOfSlow
constexpr int kBatchesOfSlow = 2;

[[noreturn]] void refuse(const char* what, const char* text) {
  std::fprintf(stderr, "%s '%s'; usage: OPERATION TYPE BYTES BATCHES [VARIANT]\n", what, text);
  std::exit(2);
}

class Measurement {
 public:
  Measurement(Member& member, const Task& task)
      : member_(member),
        task_(task),
        buffers_(allocateBuffers(member, task)),
        control_(member.allocate(sizeof(float))),
        own_times_(member.allocate(timesBytes())),
        all_times_(member.allocate(timesBytes() * static_cast<std::size_t>(member.size()))) {}

  void run() {
    checkNext();
    fillForTiming(buffers_, task_.type);
    const std::uint32_t operations = warmUp();
    for (int batch = 0; batch < batches_; ++batch)
      static_cast<float*>(own_times_)[batch] = static_cast<float>(secondsOf(operations) / operations * 1e6);
    checkNext();  // the first one may have gone another way than those that were timed
    report();
  }

 private:
  std::size_t timesBytes() const { return sizeof(float) * static_cast<std::size_t>(task_.batches); }
  std::size_t elementsIn(std::size_t bytes) const { return bytes / popdist::sizeOf(task_.type); }

  void checkNext() {
    next_root_ = 0;
    fillForCheck(buffers_, task_.type, member_.rank());
    check(task_, buffers_, perform(), member_.rank(), member_.size());
  }

  // Runs the next operation; returns the position of its result.
  const void* perform() {
    const Buffers& b = buffers_;
    switch (task_.operation) {
      case Operation::kAllReduce:
        member_.allReduce(b.in, b.block);
        return b.in;
      case Operation::kBroadcast:
        member_.broadcast(b.in, b.block, next_root_);
        next_root_ = next_root_ + 1 < member_.size() ? next_root_ + 1 : 0;
        return b.in;
      case Operation::kAllGather:
        member_.allGather(b.in, b.out, b.block);
        return b.out;
      case Operation::kReduceScatter:
        return member_.reduceScatter(b.in, b.out, b.block);
      case Operation::kAllToAll:
        member_.allToAll(b.in, b.out, b.block);
        return b.out;
      case Operation::kBarrier:
        member_.barrier();
        break;
    }
    return b.out;
  }

  double secondsOf(std::uint32_t operations) {
    using Clock = std::chrono::steady_clock;
    member_.barrier();
    const auto begin = Clock::now();
    for (std::uint32_t i = 0; i < operations; ++i) perform();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  // The number of operations in a batch, chosen by rank 0.
  std::uint32_t warmUp() {
    for (std::uint32_t operations = 1;; operations *= kGrowth) {
      const double seconds = fromRoot(secondsOf(operations));
      if (seconds / operations > kSlowSeconds) batches_ = std::min(batches_, kBatchesOfSlow);
      if (seconds < kLongEnoughSeconds) continue;
      operations = std::max(static_cast<std::uint32_t>(operations * kBatchSeconds / seconds + 0.5), 1U);
      for (int batch = 0; batch < kBatchesNotCounted && operations > 1; ++batch) secondsOf(operations);
      return operations;
    }
  }

  double fromRoot(double value) {
    *static_cast<float*>(control_) = static_cast<float>(value);
    member_.broadcast(control_, elementsIn(sizeof(float)), 0);
    return static_cast<double>(*static_cast<float*>(control_));
  }

  void report() {
    member_.allGather(own_times_, all_times_, elementsIn(timesBytes()));
    if (member_.rank() != 0) return;
    std::vector<double> longest(static_cast<std::size_t>(batches_));
    for (std::size_t batch = 0; batch < longest.size(); ++batch) {
      for (int rank = 0; rank < member_.size(); ++rank) {
        const float* times = static_cast<const float*>(all_times_) + rank * task_.batches;
        longest[batch] = std::max(longest[batch], static_cast<double>(times[batch]));
      }
    }
    std::puts(seriesLine("batches", longest).c_str());
  }

  Member& member_;
  const Task task_;
  int batches_ = task_.batches;
  Buffers buffers_;
  int next_root_ = 0;
  void* control_;
  void* own_times_;
  void* all_times_;
};

}  // namespace

Task taskFrom(int argc, const char* const* argv) {
  if (argc < 5 || argc > 6) refuse("wrong number of arguments after", argv[0]);
  const auto operation = operationNamed(argv[1]);
  if (!operation) refuse("no such operation:", argv[1]);
  const auto type = typeNamed(argv[2]);
  if (!type) refuse("no such type:", argv[2]);
  Task task{.operation = *operation, .type = *type, .bytes = std::strtoull(argv[3], nullptr, 10)};
  task.batches = std::max(std::atoi(argv[4]), 1);
  if (argc == 6) task.variant = argv[5];
  return task;
}

void measure(Member& member, const Task& task) {
  Measurement(member, task).run();
}

}  // namespace pop::bench::collectives
