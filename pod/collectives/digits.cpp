// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/digits.h"

#include "common/base/check.h"

namespace pop::pod {
namespace {

// GCL: flat on a torus with several IPUs a replica, the serpent on a barley twist, else interleaved.
RingOrder orderInside(const ReplicaLayout& layout) {
  switch (layout.spec.ringTopology()) {
    case IldTopology::kMesh:
      break;
    case IldTopology::kTorus:
      if (layout.ipus_per_replica > 1) return RingOrder::kFlat;
      break;
    case IldTopology::kBarleyTwist:
      return RingOrder::kSerpent;
  }
  return RingOrder::kInterleaved;
}

void add(std::vector<Digit>& digits, Digit digit) {
  if (digit.size > 1) digits.push_back(digit);
}

}  // namespace

Digits digitsOf(const ReplicaLayout& layout, int group) {
  POP_CHECK(group >= 1 && layout.replicas % group == 0);
  const int per_ild = layout.replicasPerIld();
  const RingOrder order = orderInside(layout);
  Digits digits;
  if (per_ild % group == 0) {
    add(digits.inside, {group, 1, order});
    add(digits.between, {per_ild / group, group, RingOrder::kFlat});
    add(digits.between, {layout.ildCount(), per_ild, RingOrder::kFlat});
    return digits;
  }
  if (group % per_ild == 0) {
    add(digits.inside, {per_ild, 1, order});
    add(digits.inside, {group / per_ild, per_ild, RingOrder::kFlat});
  } else {
    add(digits.inside, {group, 1, RingOrder::kFlat});
  }
  add(digits.between, {layout.replicas / group, group, RingOrder::kFlat});
  return digits;
}

}  // namespace pop::pod
