// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/tensor/error_edge.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <typeinfo>

namespace popdist {
namespace {

constexpr int kMostNestedExceptions = 16;

std::string nameOfType(const std::type_info& type) {
  int error = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &error), &std::free);
  return error == 0 ? name.get() : type.name();
}

std::string causesOf(const std::exception& error, int depth) {
  try {
    if (depth < kMostNestedExceptions) std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    return "; caused by " + describe(cause) + causesOf(cause, depth + 1);
  } catch (...) {
    return "; caused by " + describeCurrent();
  }
  return "";
}

}  // namespace

std::string causesOf(const std::exception& error) {
  return causesOf(error, 0);
}

std::string describe(const std::exception& error) {
  if (dynamic_cast<const popdist_error*>(&error) != nullptr) return error.what();
  return nameOfType(typeid(error)) + ": " + error.what();
}

std::string describeCurrent() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const std::string name = "an exception of type " + (type == nullptr ? "unknown" : nameOfType(*type));
  try {
    throw;
  } catch (const char* text) {
    return text == nullptr ? name : name + ": " + text;
  } catch (const std::string& text) {
    return name + ": " + text;
  } catch (...) {
    return name;
  }
}

pop::Status currentException(const std::string& out_of_memory, const std::string& thrower) {
  try {
    throw;
  } catch (const popdist_error& error) {
    return {static_cast<pop::Code>(error.code()), error.what() + causesOf(error)};
  } catch (const std::bad_alloc&) {
    return {pop::Code::kResourceExhausted, "out of memory: " + out_of_memory};
  } catch (const std::exception& error) {
    return {pop::Code::kUnknown, error.what() + causesOf(error)};
  } catch (...) {
    return {pop::Code::kUnknown, thrower + " threw " + describeCurrent() + ", not a std::exception"};
  }
}

}  // namespace popdist
