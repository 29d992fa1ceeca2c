// SPDX-License-Identifier: Apache-2.0
// A copy is a fold of one source by an operator that leaves bytes as they are.
#include "libpopdist/collectives/reduce/copy.h"

#include "libpopdist/internal/fold.h"

namespace popdist::reduce {
namespace {

void copy(void* to, const void* from, std::size_t bytes, bool streaming) {
  void* const destinations[] = {to};
  const void* const sources[] = {from};
  fold({.op = Operator::kBitOr, .type = Type::kUint8, .streaming = streaming}, destinations, sources, bytes);
}

}  // namespace

void copyCached(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, false);
}

void copyWritingBack(void* to, void* from, std::size_t bytes) {
  void* const destinations[] = {to, from};
  const void* const sources[] = {from};
  fold({.op = Operator::kBitOr, .type = Type::kUint8}, destinations, sources, bytes);
}

void copyStreaming(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, true);
}

}  // namespace popdist::reduce
