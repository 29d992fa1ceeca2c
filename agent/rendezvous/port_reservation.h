// SPDX-License-Identifier: Apache-2.0
// Reserves free TCP ports for the instances' own servers (TF_CONFIG, MASTER_PORT) until they are released.
#pragma once

#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::agent {

class PortReservation {
 public:
  /// Binds `count` ports in IPv4 and, where the kernel has it, IPv6. They are outside the kernel's ephemeral
  /// range, so that no outgoing connection takes one by chance between release() and the instance's own bind.
  static Result<PortReservation> reserve(int count);

  const std::vector<int>& ports() const { return ports_; }
  void release() { sockets_.clear(); }

 private:
  std::vector<int> ports_;
  std::vector<sys::Fd> sockets_;
};

}  // namespace pop::agent
