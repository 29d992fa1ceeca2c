// SPDX-License-Identifier: Apache-2.0
// Source of a run's data: the dataset, a generator on the host that does next to nothing, or the device
// itself. The three speeds of one program tell whether it waits for the dataset, for the host's part of the
// input, or for the model.
#pragma once

#include <cstdint>

#include "popdist/cxx20.hpp"
#include "popdist/tensor.hpp"

namespace popdist::io {

enum class DataKind : std::uint8_t {
  kReal,       ///< the dataset
  kGenerated,  ///< batches of the same shapes, made by the host once and copied to the device for each step
  kSynthetic,  ///< made on the device once: nothing crosses from the host
};

/// Contents of generated and synthetic tensors. Integers are rounded towards zero.
struct Initialiser {
  enum class Kind : std::uint8_t {
    kConstant,  ///< `value`
    kUniform,   ///< in [0, 1)
    kNormal,    ///< mean 0, standard deviation 1
  };
  Kind kind = Kind::kConstant;
  double value = 0;
};

/// Fills `tensor` from (seed, its position in `tensors`): the same on every machine.
void initialise(TensorRefs tensors, const Initialiser& initialiser, std::uint64_t seed);

struct DataOptions {
  DataKind kind = DataKind::kReal;
  Initialiser initialiser{};
  bool infeeds = true;   ///< kGenerated and kSynthetic: of infeeds
  bool outfeeds = true;  ///< kSynthetic: of outfeeds, whose values then never reach the host

  /// POPDIST_DATA: real, generated or synthetic; POPDIST_SYNTHETIC_INITIALIZER: uniform (or random), normal,
  /// or a number; POPDIST_SYNTHETIC_CATEGORIES: infeed, outfeed or both, with a comma. Throws popdist_error
  /// kInvalidArgument naming the variable that has another value, or that is set though the data is real.
  static DataOptions fromEnvironment();
};

}  // namespace popdist::io
