// SPDX-License-Identifier: Apache-2.0
// Runs folds on every instruction set and compares them with the reference, bit by bit: the results, and that
// nothing else was written.
#pragma once

#include <gtest/gtest.h>

#include "libpopdist/internal/fold.h"
#include "tests/unit/libpopdist/collectives/reduce/fold_arrays.h"
#include "tests/unit/libpopdist/collectives/reduce/fold_reference.h"

namespace popdist::reduce {

template <typename T>
using Sources = std::vector<std::vector<T>>;

template <typename T>
Sources<T> anySources(std::size_t sources, std::size_t count) {
  Sources<T> result;
  for (std::size_t k = 0; k < sources; ++k) result.push_back(anyElements<T>(count, 1000 * count + k));
  return result;
}

template <typename T>
std::vector<T> expectedOf(const FoldSpec& spec, const Sources<T>& sources) {
  std::vector<T> result;
  for (std::size_t i = 0; i < sources[0].size(); ++i) {
    std::vector<T> elements;
    for (const std::vector<T>& source : sources) elements.push_back(source[i]);
    result.push_back(folded(spec.op, elements, spec.partials, spec.divisor));
  }
  return result;
}

/// Where the arrays of a fold lie: each so many bytes behind a multiple of 64 as the seed says.
struct Layout {
  std::size_t destinations = 1;
  std::size_t in_place = 0;  // so many of the destinations are sources, the last ones
  std::size_t seed = 0;
  bool any_address = true;  // else at multiples of the element's size
};

template <typename T>
class Arena {
 public:
  Arena(const Sources<T>& sources, const Layout& layout) {
    std::mt19937_64 random(layout.seed);
    const auto offset = [&] {
      const std::size_t bytes = random() % 64;
      return layout.any_address ? bytes : bytes / sizeof(T) * sizeof(T);
    };
    arrays_.reserve(sources.size() + layout.destinations);
    for (const std::vector<T>& source : sources) {
      arrays_.emplace_back(source, offset());
      from_.push_back(arrays_.back().data());
    }
    for (std::size_t d = 0; d < layout.destinations; ++d) {
      if (d < layout.in_place) {
        destinations_.push_back(sources.size() - 1 - d);
      } else {
        destinations_.push_back(arrays_.size());
        arrays_.emplace_back(sources[0].size(), offset());
      }
      to_.push_back(arrays_[destinations_.back()].data());
    }
    count_ = sources[0].size();
  }

  void run(Isa isa, const FoldSpec& spec) { foldOn(isa, spec, to_, from_, count_); }

  void expect(const std::vector<T>& expected, const Sources<T>& sources) const {
    for (const std::size_t d : destinations_) ASSERT_EQ(bitsOf(arrays_[d].elements()), bitsOf(expected));
    for (const GuardedArray<T>& array : arrays_) ASSERT_TRUE(array.guardsHold());
    for (std::size_t k = 0; k < sources.size(); ++k) {
      if (std::count(destinations_.begin(), destinations_.end(), k) != 0) continue;
      ASSERT_EQ(bitsOf(arrays_[k].elements()), bitsOf(sources[k])) << "source " << k << " was written";
    }
  }

 private:
  std::size_t count_ = 0;
  std::vector<GuardedArray<T>> arrays_;
  std::vector<std::size_t> destinations_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
};

/// On all instruction sets.
template <typename T>
void expectFold(const FoldSpec& spec, const Sources<T>& sources, const Layout& layout) {
  const std::vector<T> expected = expectedOf(spec, sources);
  for (const Isa isa : availableIsas()) {
    SCOPED_TRACE(testing::Message() << nameOf(isa) << ' ' << nameOf(spec.op) << ' ' << nameOf(spec.type)
                                    << ", " << sources.size() << " sources of " << sources[0].size());
    Arena<T> arena(sources, layout);
    arena.run(isa, spec);
    arena.expect(expected, sources);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace popdist::reduce
