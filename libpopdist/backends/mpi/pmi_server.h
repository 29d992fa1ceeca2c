// SPDX-License-Identifier: Apache-2.0
// Starts MPI without its launcher: rank 0 plays the process manager, in a thread, for all ranks of the job.
// Each connects to it and hands the connection to its MPI library, which speaks PMI-1 on it.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/backends/mpi/pmi_answers.h"

namespace popdist::backends {

class PmiServer {
 public:
  /// Listens on `host`, a numeric address, and serves from then on until the process ends.
  static pop::Result<std::unique_ptr<PmiServer>> start(const std::string& host, int ranks);

  /// "<secret> <port> <host>": for connectToPmi().
  const std::string& address() const { return address_; }

 private:
  PmiServer(pop::sys::Fd listener, int ranks)
      : listener_(std::move(listener)), answers_(ranks), ranks_(ranks) {}
  void serve();
  void admit(pop::sys::Fd connection);
  bool talk(int rank);

  struct Client {
    pop::sys::Fd connection;
    std::string unfinished;
  };

  const pop::sys::Fd listener_;
  PmiAnswers answers_;
  const int ranks_;
  std::string secret_;
  std::string address_;
  std::vector<Client> clients_;
};

/// A connection to the server at `address`, which knows it as that of `rank`. It survives no exec. Waits as
/// long as the system does, which is minutes where packets are dropped.
pop::Result<pop::sys::Fd> connectToPmi(const std::string& address, int rank);

}  // namespace popdist::backends
