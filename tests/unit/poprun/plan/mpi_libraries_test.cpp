// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/mpi_libraries.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

using contract::EnvFamilies;
using contract::EnvFamily;

std::string warning(const std::string& library, const EnvFamilies& families = contract::allEnvFamilies()) {
  return mpiWarning("./solve", {"libm.so.6", library, "libc.so.6"}, families);
}

TEST(MpiWarning, HasNothingToSayOfProgramsWithoutMpi) {
  EXPECT_EQ(mpiWarning("./solve", {}, {}), "");
  for (const char* library : {"libc.so.6", "libmpir.so.23", "libmpileup.so.1", "libmp.so.3", "libmpi"})
    EXPECT_EQ(warning(library, {}), "") << library;
}

TEST(MpiWarning, NamesTheFamilyThatIsLeftOut) {
  EXPECT_EQ(warning("libmpi.so.40", {EnvFamily::kPmi}),
            "'./solve' links libmpi.so.40, an MPI library that finds its world by what --env-for leaves out: "
            "without pmix there, every instance is a world of its own");
  for (const char* library : {"libmpi.so.20", "libmpi.so.40", "libmpi_cxx.so.40", "libmpi_mpifh.so.40"}) {
    EXPECT_NE(warning(library, {EnvFamily::kPmi}).find("without pmix"), std::string::npos) << library;
    EXPECT_EQ(warning(library, {EnvFamily::kPmix}), "") << library;
  }
  for (const char* library : {"libmpich.so.12", "libmpichcxx.so.12", "libmpichfort.so.12", "libmpi.so.12",
                              "libmpicxx.so.12", "libmpifort.so.12", "libmvapich.so.0"}) {
    EXPECT_NE(warning(library, {EnvFamily::kPmix}).find("without pmi there"), std::string::npos) << library;
    EXPECT_EQ(warning(library, {EnvFamily::kPmi}), "") << library;
  }
}

TEST(MpiWarning, NamesALibraryThatPoprunDoesNotKnow) {
  EXPECT_EQ(warning("libmpi_xyz.so"),
            "'./solve' links libmpi_xyz.so, an MPI library that poprun does not know: it may start every "
            "instance as a world of its own");
  for (const char* library : {"libmpi.so", "libmpi.so.1", "libmpi_cray.so.12", "libmpi_gnu_123.so.12"})
    EXPECT_NE(warning(library).find("poprun does not know"), std::string::npos) << library;
}

TEST(MpiWarning, IsSilentIfOneOfSeveralIsServed) {
  EXPECT_EQ(mpiWarning("./solve", {"libmpi_tools.so.1", "libmpi.so.40"}, contract::allEnvFamilies()), "");
}

}  // namespace
}  // namespace pop
