// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::bench::collectives {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Series, IsFoundAmongALaunchersOutput) {
  const std::string output = "[0] hello\n[0] " + seriesLine("batches", std::vector{0.0625, 12000.0}) +
                             "\nmpirun: bye\n" + seriesLine("rep movsb", std::vector{1.5});
  const std::vector<Series> found = seriesIn(output);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "batches");
  EXPECT_THAT(found[0].values, ElementsAre(0.0625, 12000));
  EXPECT_EQ(found[1].name, "rep movsb");
  EXPECT_THAT(found[1].values, ElementsAre(1.5));
}

TEST(Series, MayBeEmpty) {
  const std::vector<Series> found = seriesIn(seriesLine("flag", {}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].values, IsEmpty());
}

TEST(Series, ThatIsCutShortOrTornIsNone) {
  const std::string whole = seriesLine("batches", std::vector{1.5, 2.5});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(seriesIn(whole.substr(0, size)), IsEmpty()) << size;
  std::string torn = whole;
  torn.insert(torn.find("2.5"), "mpirun says");
  EXPECT_THAT(seriesIn(torn), IsEmpty());
}

}  // namespace
}  // namespace pop::bench::collectives
