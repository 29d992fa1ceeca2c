// SPDX-License-Identifier: Apache-2.0
// All instances hear of one instance's exception.
#include <exception>
#include <string>
#include <utility>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"
#include "popdist/error.hpp"

namespace popdist::train {
namespace {

constexpr std::size_t kMostToldBytes = 4096;
/// In a catch block: the exception in flight and those nested in it.
pop::Status thrown() {
  try {
    throw;
  } catch (const popdist_error& error) {
    return {static_cast<pop::Code>(error.code()), describe(error) + causesOf(error)};
  } catch (const std::exception& error) {
    return {pop::Code::kAborted, describe(error) + causesOf(error)};
  } catch (...) {
    return {pop::Code::kAborted, describeCurrent()};
  }
}

/// In a catch block: tells the others of the exception in flight, or passes on what this instance was told.
void tellOthers(Context& context, const char* function) {
  const int own = context.instanceIndex();
  try {
    throw;
  } catch (const popdist_error& error) {
    if (error.peer() >= 0 && error.peer() != own)
      return internal::abortOwnCalls(context, {static_cast<pop::Code>(error.code()), error.cause()},
                                     error.peer());
  } catch (...) {  // it has begun here
  }
  const pop::Status why = thrown();
  const std::string text =
      std::string(function) + " has failed on instance " + std::to_string(own) + ": " + why.message();
  internal::abortOwnCalls(context, {why.code(), text.substr(0, kMostToldBytes)}, own);
}

}  // namespace

void together(Context& context, const char* function, const std::function<void()>& body) {
  try {
    body();
  } catch (...) {
    if (context.numInstances() > 1) tellOthers(context, function);
    throw;
  }
}

}  // namespace popdist::train
