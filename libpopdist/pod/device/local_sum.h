// SPDX-License-Identifier: Apache-2.0
// The sum of a job with one instance: all tensors are local.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/sys/forks.h"
#include "libpopdist/pod/device/device_sum.h"
#include "libpopdist/pod/device/ordered_fold.h"

namespace popdist::pod {

class LocalSum : public DeviceSum {
 public:
  explicit LocalSum(const Schedule& schedule) : fold_(schedule) {}

  void run(const DeviceTensors& tensors) override;
  [[noreturn]] void refuse(plan::Operation call, const pop::Status& why) const override;
  [[noreturn]] void abort(plan::Operation call, const pop::Status& why) override;

 private:
  OrderedFold fold_;
  std::vector<std::byte*> tensors_;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  std::optional<std::string> broken_;  ///< why no further call is possible; ok: calls are possible
};

}  // namespace popdist::pod
