// SPDX-License-Identifier: Apache-2.0
// Measures libpopdist's reduction and copy kernels on one core.
//   bench_kernels [TEXT] [BYTES]   the kernels whose name contains TEXT, arrays of at most BYTES (128 MiB)
// One JSON line for each kernel, instruction set and array size. gb_per_s is payload: the bytes of one array
// divided by the time, however many arrays are read and written; the median over rounds, in each of which all
// kernels take a turn, and the best round. Time is the thread's CPU time, so other programs' turns on the
// core do not count; their effects on clock rate, caches and memory do.
#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/json_line.h"
#include "bench/harness/machine.h"
#include "bench/harness/statistics.h"
#include "libpopdist/collectives/reduce/copy.h"
#include "libpopdist/internal/fold.h"

namespace {

using popdist::Operator;
using popdist::Type;
using popdist::reduce::Isa;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kSizes[] = {16 * kKiB, 256 * kKiB, kMiB, 4 * kMiB, 16 * kMiB, 128 * kMiB};
constexpr std::size_t kMostBytesOfFold = 400 * kMiB;
constexpr int kRounds = 9;
constexpr double kBatchSeconds = 0.001;

/// Memory with all pages present, shared by all kernels of one size and type. It is full of ones: zeros are
/// faster to store than real data, and leftovers of another type's sums may be slower to add.
class Arrays {
 public:
  unsigned char* at(Type type, std::size_t index, std::size_t bytes) {
    std::vector<unsigned char>& memory = arrays_[{type, index}];
    if (memory.empty()) {
      memory.resize(bytes + kAlignment);
      const auto one = onesOf(type);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = one[i % one.size()];
    }
    return memory.data() + (0 - reinterpret_cast<std::uintptr_t>(memory.data())) % kAlignment;
  }

 private:
  static constexpr std::size_t kAlignment = 4096;  // as message buffers of real programs are

  static std::array<unsigned char, 4> onesOf(Type type) {
    if (type == Type::kFloat) return std::bit_cast<std::array<unsigned char, 4>>(1.0F);
    if (type == Type::kBfloat16) return {0x80, 0x3F, 0x80, 0x3F};
    if (type == Type::kHalf) return {0x00, 0x3C, 0x00, 0x3C};
    return {1, 1, 1, 1};
  }

  std::map<std::pair<Type, std::size_t>, std::vector<unsigned char>> arrays_;
};

double threadSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Subject {
  std::string kernel;
  const char* isa;
  std::function<void()> run;
  int calls = 0;                // of a batch
  std::vector<double> seconds;  // of one call, for each round
};

double secondsOfBatch(const Subject& subject, int calls) {
  const double begin = threadSeconds();
  for (int i = 0; i < calls; ++i) subject.run();
  return (threadSeconds() - begin) / calls;
}

void measure(std::vector<Subject>& subjects) {
  for (Subject& subject : subjects) {
    subject.run();
    subject.calls = std::max(1, static_cast<int>(kBatchSeconds / secondsOfBatch(subject, 1)));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Subject& subject : subjects) subject.seconds.push_back(secondsOfBatch(subject, subject.calls));
  }
}

void report(const Subject& subject, std::size_t bytes) {
  const pop::bench::Summary seconds = pop::bench::summarize(subject.seconds);
  const auto rate = [bytes](double of_seconds) { return static_cast<double>(bytes) / of_seconds / 1e9; };
  const auto line = pop::bench::JsonLine("kernel")
                        .add("kernel", subject.kernel)
                        .add("isa", subject.isa)
                        .add("bytes", bytes)
                        .add("microseconds", seconds.median * 1e6)
                        .add("gb_per_s", rate(seconds.median))
                        .add("best_gb_per_s", rate(seconds.min));
  std::printf("%s\n", line.text().c_str());
}

struct FoldCase {
  Operator op;
  Type type;
  std::size_t sources;
  std::size_t destinations;
  bool in_place = true;  // the first destination is the first source
  bool streaming = false;

  std::string name() const {
    return std::string(nameOf(op)) + ' ' + nameOf(type) + ' ' + std::to_string(sources) + "->" +
           std::to_string(destinations) + (in_place ? " in place" : "") + (streaming ? " streaming" : "");
  }
  std::size_t arrays() const { return sources + destinations - (in_place ? 1 : 0); }
};

std::vector<FoldCase> foldCases() {
  std::vector<FoldCase> cases;
  for (const Type type : {Type::kFloat, Type::kBfloat16, Type::kHalf}) {
    cases.push_back({Operator::kSum, type, 2, 1});
    cases.push_back({Operator::kSum, type, 4, 1});
  }
  for (const unsigned sources : {3U, 8U}) cases.push_back({Operator::kSum, Type::kFloat, sources, 1});
  for (const unsigned ranks : {2U, 4U, 8U}) cases.push_back({Operator::kSum, Type::kFloat, ranks, ranks});
  cases.push_back({Operator::kSum, Type::kFloat, 2, 1, false});
  cases.push_back({Operator::kSum, Type::kFloat, 2, 1, false, true});
  for (const Operator op : {Operator::kMean, Operator::kMin, Operator::kProduct, Operator::kSquareAdd})
    cases.push_back({op, Type::kFloat, 2, 1});
  for (const Operator op : {Operator::kSum, Operator::kMax}) cases.push_back({op, Type::kInt32, 2, 1});
  return cases;
}

Subject subjectOf(const FoldCase& fold, Isa isa, std::size_t bytes, Arrays& arrays) {
  std::vector<const void*> from;
  std::vector<void*> to;
  for (std::size_t k = 0; k < fold.sources; ++k) from.push_back(arrays.at(fold.type, k, bytes));
  const std::size_t first = fold.in_place ? 0 : fold.sources;
  for (std::size_t d = 0; d < fold.destinations; ++d) to.push_back(arrays.at(fold.type, first + d, bytes));
  const popdist::reduce::FoldSpec spec{
      .op = fold.op, .type = fold.type, .divisor = 3, .streaming = fold.streaming};
  return {fold.name(), nameOf(isa), [=] { foldOn(isa, spec, to, from, bytes / sizeOf(fold.type)); }, 0, {}};
}

/// The reference for copies.
void repMovsb(void* to, const void* from, std::size_t bytes) {
#ifdef __x86_64__
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  std::memcpy(to, from, bytes);
#endif
}
void glibcMemcpy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

/// Copies between page boundaries, and to three bytes behind one, in the instruction set that POPDIST_SIMD
/// chooses.
void addCopies(std::vector<Subject>& subjects, std::size_t bytes, Arrays& arrays) {
  struct Copy {
    const char* name;
    void (*run)(void* to, const void* from, std::size_t bytes);
  };
  const char* const chosen = nameOf(popdist::reduce::isaFromEnvironment().value());
  for (const Copy& copy :
       {Copy{"cached", popdist::reduce::copyCached}, Copy{"streaming", popdist::reduce::copyStreaming},
        Copy{"memcpy", glibcMemcpy}, Copy{"rep movsb", repMovsb}}) {
    for (const std::size_t offset : {0UL, 3UL}) {
      unsigned char* const to = arrays.at(Type::kUint8, 0, bytes) + offset;
      const unsigned char* const from = arrays.at(Type::kUint8, 1, bytes);
      subjects.push_back({std::string("copy ") + copy.name + (offset == 0 ? "" : " unaligned"),
                          chosen,
                          [=] { copy.run(to, from, bytes - offset); },
                          0,
                          {}});
    }
  }
}

std::vector<Subject> subjectsOf(std::size_t bytes, const std::string& wanted, Arrays& arrays) {
  std::vector<Subject> subjects;
  for (const FoldCase& fold : foldCases()) {
    if (fold.arrays() * bytes > kMostBytesOfFold) continue;
    for (const Isa isa : popdist::reduce::availableIsas())
      subjects.push_back(subjectOf(fold, isa, bytes, arrays));
  }
  addCopies(subjects, bytes, arrays);
  std::erase_if(subjects,
                [&](const Subject& subject) { return subject.kernel.find(wanted) == std::string::npos; });
  return subjects;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const std::size_t most_bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 128 * kMiB;
  if (!popdist::reduce::isaFromEnvironment().ok()) {
    std::fprintf(stderr, "%s\n", popdist::reduce::isaFromEnvironment().status().message().c_str());
    return 1;
  }
  std::printf("%s\n", toJson(pop::bench::describeMachine()).text().c_str());
  for (const std::size_t bytes : kSizes) {
    if (bytes > most_bytes) break;
    Arrays arrays;
    std::vector<Subject> subjects = subjectsOf(bytes, wanted, arrays);
    measure(subjects);
    for (const Subject& subject : subjects) report(subject, bytes);
    std::fflush(stdout);
  }
  return 0;
}
