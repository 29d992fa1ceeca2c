// SPDX-License-Identifier: Apache-2.0
// A network in four stages: three dense layers with ReLU, and one with softmax and cross-entropy.
#pragma once

#include <cstddef>
#include <popdist/popdist.hpp>
#include <vector>

#include "isa.h"

/// Adds the stages' parameters to `parameters`. Each takes micro-batches of `samples` images of 28 x 28. The
/// last stage gives "loss" and "correct", summed over a micro-batch; its gradients are of factor · loss.
std::vector<popdist::train::Concurrent> fourStages(popdist::train::Parameters& parameters,
                                                   std::size_t samples, float factor, Isa isa);

/// Times of the stages on an IPU, at `flops_per_s`.
popdist::train::SimulationOptions timesOfStages(std::size_t samples, double flops_per_s);
