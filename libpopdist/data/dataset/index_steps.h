// SPDX-License-Identifier: Apache-2.0
// Steps that only choose which elements come, and in which order.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

using NodeResult = pop::Result<std::unique_ptr<const Node>>;

/// kFailedPrecondition: `below` is a sequence, has no end or is in batches.
NodeResult shuffled(std::unique_ptr<const Node> below, std::uint64_t seed);

/// Elements index, index + count, …
NodeResult everyOf(std::unique_ptr<const Node> below, int count, int index);

/// At most `elements`, after the first `skipped`.
NodeResult rangeOf(std::unique_ptr<const Node> below, std::uint64_t skipped, std::uint64_t elements);

/// Passes one after the other; `times` kEndless: for ever.
NodeResult repeated(std::unique_ptr<const Node> below, std::uint64_t times);

/// The local replicas' elements of each context.replicas elements.
NodeResult dealt(std::unique_ptr<const Node> below, const InputContext& context);

}  // namespace popdist::io
