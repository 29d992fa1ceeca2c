// SPDX-License-Identifier: Apache-2.0
// Labelled images for the replicas of this instance.
#pragma once

#include <cstdint>
#include <popdist/popdist.hpp>
#include <string>

/// The files `part`-images-idx3-ubyte.gz and `part`-labels-idx1-ubyte.gz of a directory: tensors "image", of
/// bytes, and "label". Throws if a label is none of `classes`.
popdist::io::Dataset readPart(const std::string& directory, const std::string& part, int classes);

/// Feeds this instance's replicas with batches of floats in [0, 1] and of 32-bit labels. The dataset is one
/// of batches; a tensor "weight" stays as it is. Bytes cross to the device, which makes the floats.
popdist::io::Infeed feedReplicas(const popdist::Context& context, popdist::io::Dataset batches);
