// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/mpi_libraries.h"

#include <optional>

#include "common/base/text.h"

namespace pop {
namespace {

using contract::EnvFamilies;
using contract::EnvFamily;

// libmpi.so.40 and its companions, as libmpi_mpifh.so.40. 20: versions 2 and 3; 40: since version 4.
bool isOpenMpi(std::string_view library) {
  return library.ends_with(".so.20") || library.ends_with(".so.40");
}

// 12: the name of the family's common ABI, which Intel MPI and MVAPICH have too.
bool isMpich(std::string_view library) {
  return library.starts_with("libmpich") || library.starts_with("libmvapich") || library == "libmpi.so.12" ||
         library == "libmpicxx.so.12" || library == "libmpifort.so.12";
}

// Not libmpir, a library of numbers.
bool isMpi(std::string_view library) {
  return library.starts_with("libmpi.") || library.starts_with("libmpi_") || isMpich(library);
}

// Which family makes it a world; nothing: poprun does not know.
std::optional<EnvFamily> familyOf(std::string_view library) {
  if (isMpich(library)) return EnvFamily::kPmi;
  return isOpenMpi(library) ? std::optional(EnvFamily::kPmix) : std::nullopt;
}

}  // namespace

std::string mpiWarning(std::string_view program, const std::vector<std::string>& needed,
                       const contract::EnvFamilies& families) {
  std::string warning;
  for (const std::string& library : needed) {
    if (!isMpi(library)) continue;
    const std::optional<EnvFamily> family = familyOf(library);
    if (family && families.contains(*family)) return {};
    if (!warning.empty()) continue;
    warning = inQuotes(program) + " links " + printable(library) + ", an MPI library ";
    warning += family ? "that finds its world by what --env-for leaves out: without " +
                            contract::envFamiliesText(EnvFamilies{*family}) +
                            " there, every instance is a world of its own"
                      : "that poprun does not know: it may start every instance as a world of its own";
  }
  return warning;
}

}  // namespace pop
