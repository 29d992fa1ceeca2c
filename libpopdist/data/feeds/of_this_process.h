// SPDX-License-Identifier: Apache-2.0
// Holds an object that has threads, or locks that threads hold, and so belongs to the process that made it: a
// forked child has its memory but none of its threads, and can neither use nor destroy it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/sys/forks.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::io {

template <typename Thing>
class OfThisProcess {
 public:
  /// `what` names the object in errors; the other arguments construct it.
  template <typename... Args>
  explicit OfThisProcess(std::string what, Args&&... args)
      : what_(std::move(what)), thing_(std::make_unique<Thing>(std::forward<Args>(args)...)) {}
  ~OfThisProcess() {
    if (isForked()) static_cast<void>(thing_.release());
  }
  OfThisProcess(const OfThisProcess&) = delete;
  OfThisProcess& operator=(const OfThisProcess&) = delete;

  /// Access for `function`, named in errors. Throws popdist_error kFailedPrecondition in a forked child.
  Thing& get(const char* function) {
    if (isForked())
      throwIfError(pop::failedPrecondition("this process was forked from the one that owns the " + what_),
                   function);
    return *thing_;
  }

  /// Access to parts that never change, in any process.
  const Thing& constant() const { return *thing_; }

 private:
  bool isForked() const { return fork_ != pop::sys::forksOfThisProcess(); }

  const unsigned fork_ = pop::sys::forksOfThisProcess();
  const std::string what_;
  std::unique_ptr<Thing> thing_;
};

}  // namespace popdist::io
