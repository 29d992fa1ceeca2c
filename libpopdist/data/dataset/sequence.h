// SPDX-License-Identifier: Apache-2.0
// Elements that come one after the other: a generator of the user's, or shuffleBuffered().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

/// Writes the next element of a pass, or returns false after the last one.
using NextElement = std::function<bool(const Pass& pass, Row row)>;
/// Begins a pass.
using StartPass = std::function<NextElement(std::uint64_t epoch)>;

/// Arguments of Node::description.
struct SequenceName {
  std::shared_ptr<const Node> below;  ///< nullptr: it is a source
  std::string own;
};

/// The sequence that `start` gives, where each pass has the same number of elements: `known`, or found out.
std::unique_ptr<const Node> sequenceOf(Spec element, Extent known, StartPass start, SequenceName name);

pop::Result<std::unique_ptr<const Node>> generated(Spec element,
                                                   std::function<Generator(std::uint64_t)> start);

/// Each element is one of the next `elements` of `below`, drawn by (seed, epoch).
pop::Result<std::unique_ptr<const Node>> shuffledInBuffer(std::unique_ptr<const Node> below,
                                                          std::size_t elements, std::uint64_t seed);

}  // namespace popdist::io
