// SPDX-License-Identifier: Apache-2.0
// State that a trainer saves besides tensors, and the check that a training can go on from it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/train/agreement/agreement.h"
#include "popdist/trainer.hpp"

namespace popdist::train {

/// Facts on which a training's bits depend.
struct Setting {
  int replicas = 1;
  int accumulation = 1;       ///< micro-batches of an update
  std::uint64_t samples = 1;  ///< samples of a micro-batch
  Facts rules{};              ///< which older checkpoints do not have
};

/// The first tensor's outermost dimension.
std::uint64_t samplesOf(const Spec& micro_batch);

struct SavedState {
  std::uint64_t updates_done = 0;
  std::uint64_t runs = 0;  ///< updates, skipped ones included
  double loss_scale = 1;
  std::uint64_t good_updates = 0;
  io::Position data{};
};

Position positionOf(const SavedState& state, const Setting& setting);

/// kFailedPrecondition: made with another setting (`exactly`), or the samples of its epoch are no whole
/// micro-batches on these replicas. kDataLoss: it is no trainer's.
pop::Result<SavedState> stateAt(const Position& position, const Setting& setting, bool exactly);

/// Whole tensors, as a checkpoint has them.
std::vector<Piece> piecesOf(FlatTensors& tensors);

}  // namespace popdist::train
