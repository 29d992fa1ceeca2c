// SPDX-License-Identifier: Apache-2.0
// Continues a text, character by character.
#pragma once

#include <cstdint>
#include <popdist/popdist.hpp>
#include <vector>

#include "model.h"

struct WriterOptions {
  std::size_t count = 300;   ///< characters
  double temperature = 0.8;  ///< 0: always the likeliest; 1: as often as the model thinks
  std::uint64_t seed = 42;
};

/// A continuation of `beginning`, which is not empty. The same seed draws the same.
std::vector<std::uint8_t> write(const Transformer& model, popdist::ConstTensorRefs parameters,
                                std::vector<std::uint8_t> beginning, const WriterOptions& options);
