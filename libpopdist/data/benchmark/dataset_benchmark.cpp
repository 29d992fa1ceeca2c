// SPDX-License-Identifier: Apache-2.0
#include "popdist/dataset_benchmark.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

constexpr std::align_val_t kTransferAlignment{4096};

struct EpochStatistics {
  float elements_processed = 0;
  float total_bytes_processed = 0;
  float time_elapsed_s = 0;

  float elementsPerSecond() const { return elements_processed / time_elapsed_s; }
  float bandwidth() const { return total_bytes_processed / (1e9F * time_elapsed_s); }
};

/// As JSON: the shortest that is read back as the same float, and no integer.
std::string textOf(float number) {
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  std::string text(digits.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string jsonOf(const EpochStatistics& epoch) {
  return R"({"bandwidth":)" + textOf(epoch.bandwidth()) + R"(,"elements_per_second":)" +
         textOf(epoch.elementsPerSecond()) + R"(,"elements_processed":)" + textOf(epoch.elements_processed) +
         R"(,"time_elapsed":)" + textOf(epoch.time_elapsed_s) + R"(,"total_bytes_processed":)" +
         textOf(epoch.total_bytes_processed) + "}";
}

/// Memory from which a transfer to a device would read: aligned to pages, for each tensor.
class TransferBuffers {
 public:
  explicit TransferBuffers(const Spec& spec) {
    for (const TensorSpec& tensor : spec)
      buffers_.emplace_back(static_cast<std::byte*>(::operator new(tensor.bytes(), kTransferAlignment)));
  }

  void copy(const Tensors& element) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const auto from = element.at(i).bytes();
      std::memcpy(buffers_[i].get(), from.data(), from.size());
    }
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kTransferAlignment); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> buffers_;
};

pop::Status check(const BenchmarkOptions& options) {
  for (const auto& [name, value] : {std::pair("number_of_epochs", options.number_of_epochs),
                                    std::pair("elements_per_epoch", options.elements_per_epoch)}) {
    if (value < 1)
      return pop::invalidArgument(std::string(name) + " is " + std::to_string(value) +
                                  ", expected 1 or more");
  }
  return {};
}

/// Elements one after the other; nullptr at the end.
using NextTensors = std::function<const Tensors*()>;

class Benchmark {
 public:
  Benchmark(const Spec& spec, const BenchmarkOptions& options, const char* function)
      : spec_(spec), options_(options), function_(function) {
    throwIfError(check(options), function_);
  }

  std::vector<std::string> run(const NextTensors& next) {
    TransferBuffers buffers(spec_);
    std::string json = R"({"epochs":[)";
    for (int epoch = 0; epoch < options_.number_of_epochs; ++epoch) {
      const EpochStatistics statistics = measure(next, buffers);
      if (options_.print_stats) print(epoch, statistics);
      json += (epoch == 0 ? "" : ",") + jsonOf(statistics);
    }
    return {json + "]}"};
  }

 private:
  EpochStatistics measure(const NextTensors& next, TransferBuffers& buffers) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < options_.elements_per_epoch; ++i) {
      const Tensors* element = next();
      if (element == nullptr) failAtEnd();
      if (options_.do_memcpy) buffers.copy(*element);
    }
    const std::chrono::duration<float> elapsed = std::chrono::steady_clock::now() - begin;
    const auto elements = static_cast<float>(options_.elements_per_epoch);
    return {elements, elements * static_cast<float>(tensor::bytesOf(spec_)),
            std::max(elapsed.count(), 1e-9F)};
  }

  void failAtEnd() const {
    throwIfError({pop::Code::kOutOfRange,
                  "the dataset ends before " + std::to_string(options_.number_of_epochs) + " x " +
                      std::to_string(options_.elements_per_epoch) + " elements: lower them, or repeat() it"},
                 function_);
  }

  static void print(int epoch, const EpochStatistics& statistics) {
    std::printf(
        "epoch %d: %.0f elements in %.4f s, %.0f/s, %.3f GB/s\n", epoch,
        static_cast<double>(statistics.elements_processed), static_cast<double>(statistics.time_elapsed_s),
        static_cast<double>(statistics.elementsPerSecond()), static_cast<double>(statistics.bandwidth()));
  }

  Spec spec_;
  BenchmarkOptions options_;
  const char* function_;
};

}  // namespace

std::vector<std::string> datasetBenchmark(Dataset dataset, const BenchmarkOptions& options) {
  Benchmark benchmark(dataset.spec(), options, "datasetBenchmark");
  Tensors element(dataset.spec());
  std::uint64_t index = 0;
  return benchmark.run(
      [&]() -> const Tensors* { return dataset.read(0, index++, element) ? &element : nullptr; });
}

std::vector<std::string> infeedBenchmark(Infeed& infeed, const BenchmarkOptions& options) {
  Benchmark benchmark(infeed.spec(), options, "infeedBenchmark");
  infeed.start();
  return benchmark.run([&] { return infeed.next(0); });
}

}  // namespace popdist::io
