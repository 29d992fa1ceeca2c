// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/popdist_child_report.h"

#include <signal.h>

namespace popdist::testing {

int report(Context& context) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const int self = context.instanceIndex();
  context.report("numbers", self + 1);
  context.report("mean", self + 1, Fold::kMean);
  context.report("most", self + 1, Fold::kMax);
  int signal = 0;
  ::sigwait(&signals, &signal);
  context.report("last", 7, Fold::kMax);
  return 0;
}

}  // namespace popdist::testing
