// SPDX-License-Identifier: Apache-2.0
// What one instance throws is heard by all.
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "libpopdist/src/api/context_impl.h"
#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/train/agreement/agreement.h"
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
      return context.impl().abortInternal({static_cast<pop::Code>(error.code()), error.cause()},
                                          error.peer());
  } catch (...) {  // it has begun here
  }
  const pop::Status why = thrown();
  const std::string text =
      std::string(function) + " has failed on instance " + std::to_string(own) + ": " + why.message();
  context.impl().abortInternal({why.code(), text.substr(0, kMostToldBytes)}, own);
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

std::shared_ptr<void> toldOfFailures(Context& context,
                                     std::function<void(const pop::Status& why, int instance)> abort) {
  auto& all = context.impl().aborts;
  const auto place = all.insert(all.end(), std::move(abort));
  return {nullptr, [&all, place](void*) { all.erase(place); }};
}

std::shared_ptr<void> toldOfFailures(Context& context, Communicator& communicator) {
  return toldOfFailures(context, [of = &communicator.impl()](const pop::Status& why, int instance) {
    of->abort(why, instance);
  });
}

}  // namespace popdist::train
