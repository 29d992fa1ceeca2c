// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/digits.h"

#include "common/base/check.h"

namespace pop::pod {
namespace {

// GCL: flat on a torus with several IPUs a replica, the serpent on a barley twist, else interleaved. Replicas
// that are apart have no serpent.
RingOrder orderInside(const ReplicaLayout& layout, int stride) {
  switch (layout.spec.ringTopology()) {
    case IldTopology::kMesh:
      break;
    case IldTopology::kTorus:
      if (layout.ipus_per_replica > 1 || stride > 1) return RingOrder::kFlat;
      break;
    case IldTopology::kBarleyTwist:
      return stride > 1 ? RingOrder::kFlat : RingOrder::kSerpent;
  }
  return RingOrder::kInterleaved;
}

void add(std::vector<Digit>& digits, Digit digit) {
  if (digit.size > 1) digits.push_back(digit);
}

// The digits of the places of a group.
std::vector<Digit> insideOf(const ReplicaLayout& layout, ReplicaGroup group) {
  const int per_ild = layout.replicasPerIld();
  const int span = group.size * group.stride;
  const RingOrder order = orderInside(layout, group.stride);
  std::vector<Digit> digits;
  if (per_ild % span == 0) {
    add(digits, {group.size, group.stride, order});
  } else if (group.stride < per_ild && per_ild % group.stride == 0 && span % per_ild == 0) {
    add(digits, {per_ild / group.stride, group.stride, order});
    add(digits, {span / per_ild, per_ild, RingOrder::kFlat});
  } else {
    add(digits, {group.size, group.stride, RingOrder::kFlat});
  }
  return digits;
}

}  // namespace

Digits digitsOf(const ReplicaLayout& layout, ReplicaGroup group) {
  POP_CHECK(validate(group, layout.replicas).ok());
  const int per_ild = layout.replicasPerIld();
  const int span = group.size * group.stride;
  Digits digits{insideOf(layout, group), {}};
  add(digits.between, {group.stride, 1, RingOrder::kFlat});
  if (per_ild % span == 0) {
    add(digits.between, {per_ild / span, span, RingOrder::kFlat});
    add(digits.between, {layout.ildCount(), per_ild, RingOrder::kFlat});
  } else {
    add(digits.between, {layout.replicas / span, span, RingOrder::kFlat});
  }
  return digits;
}

}  // namespace pop::pod
