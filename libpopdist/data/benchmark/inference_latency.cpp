// SPDX-License-Identifier: Apache-2.0
// A client and the loop of a replica, in two threads, with the queues of a real program between them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "libpopdist/data/tensor/error_edge.h"
#include "popdist/dataset_benchmark.hpp"
#include "popdist/outfeed.hpp"

namespace popdist::io {
namespace {

/// Queue of requests until the infeed's thread takes them.
class Requests {
 public:
  /// `sample` stays until its results are there.
  void put(const Tensors& sample) {
    const std::scoped_lock lock(mutex_);
    sample_ = &sample;
    changed_.notify_one();
  }

  void close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_one();
  }

  /// Waits. False: there is none any more.
  bool take(TensorRefs into) {
    const Tensors* sample = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return sample_ != nullptr || is_closed_; });
      if (sample_ == nullptr) return false;
      sample = std::exchange(sample_, nullptr);
    }
    for (std::size_t i = 0; i < into.size(); ++i) {
      const auto from = sample->at(i).bytes();
      std::memcpy(into.data()[i], from.data(), from.size());
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const Tensors* sample_ = nullptr;
  bool is_closed_ = false;
};

/// The replica: answers until there is no request any more, or an error.
class Server {
 public:
  Server(const Spec& sample, const std::function<Tensors(const Tensors&)>& step)
      : step_(step),
        infeed_(Dataset::fromGenerator(sample,
                                       [this](std::uint64_t) -> Generator {
                                         return [this](TensorRefs into) { return requests_.take(into); };
                                       })
                    .prefetch(1),
                {.data = DataOptions{}}),
        outfeed_({.data = DataOptions{}}) {
    auto loop = std::make_unique<Outfeed::Loop>(outfeed_);
    try {
      thread_ = std::thread([this, loop = std::move(loop)]() mutable { run(std::move(loop)); });
    } catch (const std::system_error& error) {
      requests_.close();
      throwIfError({pop::Code::kResourceExhausted, "cannot start a thread: " + std::string(error.what())},
                   "inferenceLatency");
    }
  }

  ~Server() {
    requests_.close();
    thread_.join();
  }

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The time until the results were there. Throws what the step has thrown.
  std::chrono::nanoseconds answer(const Tensors& sample) {
    const auto begin = std::chrono::steady_clock::now();
    requests_.put(sample);
    const std::optional<Tensors> results = outfeed_.next();
    const auto end = std::chrono::steady_clock::now();
    if (!results) throwIfError(failure_, "inferenceLatency");
    return end - begin;
  }

 private:
  /// The end of `loop` tells the client that nothing more comes.
  void run(std::unique_ptr<Outfeed::Loop> loop) {
    try {
      while (const Tensors* sample = infeed_.next()) outfeed_.enqueue(step_(*sample));
    } catch (...) {
      failure_ = currentException("make the step's results smaller", "the step");
    }
    loop.reset();
  }

  const std::function<Tensors(const Tensors&)>& step_;
  Requests requests_;
  Infeed infeed_;
  Outfeed outfeed_;
  pop::Status failure_;  // read after the loop's end
  std::thread thread_;
};

pop::Status check(const LatencyOptions& options) {
  if (options.samples < 1)
    return pop::invalidArgument("samples is " + std::to_string(options.samples) + ", expected 1 or more");
  if (options.warm_up < 0)
    return pop::invalidArgument("warm_up is " + std::to_string(options.warm_up) + ", expected 0 or more");
  return {};
}

/// The element after the one before; the first after the last.
void readNext(const Dataset& samples, std::uint64_t& index, Tensors& element) {
  if (samples.read(0, index++, element)) return;
  index = 0;
  if (!samples.read(0, index++, element))
    throwIfError({pop::Code::kOutOfRange, "the dataset has no element"}, "inferenceLatency");
}

/// The smallest of sorted numbers such that `share` of them are no greater.
double quantile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

Latency inferenceLatency(const Dataset& samples, const std::function<Tensors(const Tensors&)>& step,
                         const LatencyOptions& options) {
  throwIfError(check(options), "inferenceLatency");
  Tensors element(samples.spec());
  Server server(samples.spec(), step);
  std::vector<double> times_us;
  std::uint64_t index = 0;
  for (int i = -options.warm_up; i < options.samples; ++i) {
    readNext(samples, index, element);
    const std::chrono::duration<double, std::micro> time = server.answer(element);
    if (i >= 0) times_us.push_back(time.count());
  }
  std::sort(times_us.begin(), times_us.end());
  return {.samples = options.samples,
          .p50_us = quantile(times_us, 0.5),
          .p99_us = quantile(times_us, 0.99),
          .max_us = times_us.back()};
}

std::string jsonOf(const Latency& latency) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                R"({"latency":{"max_us":%.3f,"p50_us":%.3f,"p99_us":%.3f,"samples":%d}})", latency.max_us,
                latency.p50_us, latency.p99_us, latency.samples);
  return text.data();
}

}  // namespace popdist::io
