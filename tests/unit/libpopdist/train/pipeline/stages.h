// SPDX-License-Identifier: Apache-2.0
// Tiny stages: each hands one number on, y = f(x).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "popdist/pipeline.hpp"
#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::train::testing {

inline const Spec kNumber = {{"x", Type::kFloat, {}}};

/// y = x + by
inline Stage adding(const std::string& name, float by, const std::string& from = "x",
                    const std::string& to = "x") {
  return {.name = name,
          .outputs = {{to, Type::kFloat, {}}},
          .forward = [=](Io& io) { io.out(to)[0] = io.in(from)[0] + by; },
          .backward =
              [=](Io& io) {
                if (const auto dx = io.gradIn(from); !dx.empty()) dx[0] = io.gradOut(to)[0];
              }};
}

/// Gives what it gets to the outfeed; the gradient of each of its inputs is 1.
inline Stage last(const std::vector<std::string>& from = {"x"}) {
  return {.name = "last",
          .outputs = {{"sum", Type::kFloat, {}}},
          .forward =
              [=](Io& io) {
                io.out("sum")[0] = 0;
                for (const std::string& name : from) io.out("sum")[0] += io.in(name)[0];
              },
          .backward =
              [=](Io& io) {
                for (const std::string& name : from) io.gradIn(name)[0] = 1;
              }};
}

/// "x" is 0, 1, 2 …
inline io::Dataset numbers(std::uint64_t count) {
  return io::Dataset::fromGenerator(kNumber, [=](std::uint64_t) -> io::Generator {
    return [=, next = std::uint64_t{0}](TensorRefs element) mutable {
      if (next == count) return false;
      element.get<float>(0)[0] = static_cast<float>(next++);
      return true;
    };
  });
}

inline PipelineOptions optionsOf(std::vector<Concurrent> stages, std::int64_t count) {
  PipelineOptions options{.stages = std::move(stages)};
  options.inputs = kNumber;
  options.gradient_accumulation_count = count;
  return options;
}

/// A pipeline with all that a run of it needs.
class Runner {
 public:
  explicit Runner(PipelineOptions options, std::uint64_t elements = 1000)
      : pipeline(std::move(options)),
        infeed(numbers(elements)),
        values(pipeline.options().parameters),
        gradients(pipeline.options().parameters) {}

  Feeds feeds() {
    return {.infeed = &infeed, .outfeed = &outfeed, .arguments = arguments ? &*arguments : nullptr};
  }
  void run(const RunOptions& options = {}) {
    pipeline.run(
        values, gradients.refs(), feeds(),
        [this](std::uint64_t step, ConstTensorRefs) { steps.push_back(step); }, options);
  }
  /// The values of one tensor that came since the last call.
  std::vector<float> came(const char* name = "sum") {
    std::vector<float> result;
    for (const Tensors& step : outfeed) result.push_back(step.get<float>(name)[0]);
    return result;
  }

  Pipeline pipeline;
  io::Infeed infeed;
  io::Outfeed outfeed{{.buffer_depth = 1000}};
  std::optional<Tensors> arguments;
  Tensors values, gradients;
  std::vector<std::uint64_t> steps;  ///< one entry per update
};

}  // namespace popdist::train::testing
