// SPDX-License-Identifier: Apache-2.0
// Long vectors in segments, one after the other, so that what a plan keeps in scratch does not grow with the
// vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/ring.h"

namespace popdist::plan {

/// The plan of a vector of `count` elements, in segments of `most`. `plan_of(segment)` is that of one
/// segment, as if input and output began with it; all have the same rounds. Takes twice the scratch of one
/// segment.
///
/// If a segment takes several rounds, the first one of the next segment runs beside its last one: what one
/// needs of this rank last and what the other needs of it first are under way together.
template <typename PlanOf>
Plan inSegments(std::size_t count, std::size_t most, const PlanOf& plan_of) {
  POP_CHECK(most > 0);
  Plan whole = plan_of(Range{0, std::min(count, most)});
  if (count <= most) return whole;
  const std::size_t slot = whole.scratch_count;
  const std::size_t steps = whole.steps.size();
  const std::uint32_t rounds = nextRound(whole);
  const std::uint32_t apart = rounds > 1 ? rounds - 1 : rounds;
  const std::size_t segments = (count - 1) / most + 1;
  whole.scratch_count = 2 * slot;
  whole.steps.reserve(segments * steps);
  for (std::size_t number = 1; number < segments; ++number) {
    const std::size_t begin = number * most;
    const auto place = [&](Slice& slice) {
      slice.offset += slice.buffer == Buffer::kScratch ? number % 2 * slot : begin;
    };
    Plan segment = plan_of(Range{begin, std::min(most, count - begin)});
    POP_CHECK(segment.steps.size() == steps && segment.scratch_count <= slot);
    for (Step& step : segment.steps) {
      step.round += static_cast<std::uint32_t>(number) * apart;
      place(step.from);
      place(step.to);
      whole.steps.push_back(std::move(step));
    }
  }
  return whole;
}

}  // namespace popdist::plan
