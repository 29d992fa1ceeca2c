// SPDX-License-Identifier: Apache-2.0
#include "popdist/loops.hpp"

#include <algorithm>
#include <string>

#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::loops {
namespace detail {

Iterations::Iterations(const char* loop, const LoopOptions& options, bool body_takes_input)
    : loop_(loop), options_(options) {
  if (body_takes_input && options.infeed == nullptr)
    throwIfError(pop::invalidArgument("the body takes an input, and LoopOptions::infeed is not set"), loop_);
  if (!body_takes_input && options.infeed != nullptr)
    throwIfError(
        pop::invalidArgument("LoopOptions::infeed is set, and the body takes no input: the infeed would "
                             "never be read"),
        loop_);
  for (io::Outfeed* outfeed : options.outfeeds) loops_.emplace_back(*outfeed, options.replica);
}

Iterations::~Iterations() = default;

const Tensors* Iterations::begin(std::uint64_t index, std::optional<std::uint64_t> count) {
  for (io::Outfeed::Loop& loop : loops_) loop.beginStep();
  if (options_.infeed == nullptr) return nullptr;
  const Tensors* input = options_.infeed->next(options_.replica);
  if (input == nullptr) {
    throwIfError({pop::Code::kOutOfRange, "the infeed has no element for iteration " + std::to_string(index) +
                                              (count ? " of " + std::to_string(*count) : "") +
                                              ": repeat() the dataset, or lower the number of iterations"},
                 loop_);
  }
  return input;
}

void failWithoutEnd(std::uint64_t maximum) {
  throwIfError({pop::Code::kDeadlineExceeded,
                "the condition still holds after maximum_iterations (" + std::to_string(maximum) + ")"},
               "loops.whileLoop");
}

}  // namespace detail

std::uint64_t execute(std::uint64_t steps, std::uint64_t steps_per_execution,
                      const std::function<void(std::uint64_t, std::uint64_t)>& execution) {
  if (steps_per_execution < 1)
    throwIfError(pop::invalidArgument("steps_per_execution is 0, expected 1 or more"), "loops.execute");
  std::uint64_t executions = 0;
  for (std::uint64_t first = 0; first < steps; first += steps_per_execution, ++executions)
    execution(first, std::min(steps_per_execution, steps - first));
  return executions;
}

}  // namespace popdist::loops
