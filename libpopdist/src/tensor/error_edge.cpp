// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/tensor/error_edge.h"

#include <exception>
#include <new>

namespace popdist {

pop::Status currentException(const std::string& out_of_memory, const std::string& thrower) {
  try {
    throw;
  } catch (const popdist_error& error) {
    return {static_cast<pop::Code>(error.code()), error.what()};
  } catch (const std::bad_alloc&) {
    return {pop::Code::kResourceExhausted, "out of memory: " + out_of_memory};
  } catch (const std::exception& error) {
    return {pop::Code::kUnknown, error.what()};
  } catch (...) {
    return {pop::Code::kUnknown, thrower + " threw an exception that is not a std::exception"};
  }
}

}  // namespace popdist
