// SPDX-License-Identifier: Apache-2.0
// What one instance throws is heard by all.
#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "libpopdist/src/api/context_impl.h"
#include "libpopdist/src/train/agreement/agreement.h"
#include "popdist/error.hpp"

namespace popdist::train {
namespace {

constexpr std::size_t kMostToldBytes = 4096;
constexpr int kMostNestedExceptions = 16;

std::string nameOfType(const std::type_info& type) {
  int error = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &error), &std::free);
  return error == 0 ? name.get() : type.name();
}

/// In a catch block: the exception in flight and those nested in it.
pop::Status thrown(int depth = 0) {
  const auto nestedIn = [depth](const std::exception& outer, std::string text) {
    try {
      if (depth < kMostNestedExceptions) std::rethrow_if_nested(outer);
    } catch (...) {
      text += "; caused by " + thrown(depth + 1).message();
    }
    return text;
  };
  try {
    throw;
  } catch (const popdist_error& error) {
    return {static_cast<pop::Code>(error.code()), nestedIn(error, error.what())};
  } catch (const std::exception& error) {
    return {pop::Code::kAborted, nestedIn(error, nameOfType(typeid(error)) + ": " + error.what())};
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    return {pop::Code::kAborted, "an exception of type " + (type == nullptr ? "unknown" : nameOfType(*type))};
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
