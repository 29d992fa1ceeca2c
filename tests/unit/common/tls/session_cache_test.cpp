// SPDX-License-Identifier: Apache-2.0
// What one job hands to the next: only with the same certificates, and beside what others hand on.
#include "common/tls/session_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "tests/testing/temp_dir.h"

namespace pop::tls {
namespace {

constexpr std::time_t kStart = 1'000'000;

tls::TlsFiles filesOf(const std::string& authority, const std::string& certificate) {
  tls::TlsFiles files;
  files.authority_pem = authority;
  files.certificate_pem = certificate;
  return files;
}

class SessionCacheTest : public ::testing::Test {
 protected:
  std::unique_ptr<tls::SessionCache> job(const tls::TlsFiles& files = filesOf("ca", "alice")) const {
    return std::make_unique<tls::SessionCache>(path_, files, [this] { return now_; });
  }

  testing::TempDir directory_;
  std::string path_ = directory_.path() + "/cache/tls/sessions";
  std::time_t now_ = kStart;
};

TEST_F(SessionCacheTest, HandsOnWhatAJobHasKept) {
  job()->keep("h0:1", kStart + 10, "secret");
  EXPECT_EQ(job()->find("h0:1"), "secret");
  EXPECT_EQ(job()->find("h0:2"), "");
  job()->keep("h0:1", kStart + 20, "newer");
  EXPECT_EQ(job()->find("h0:1"), "newer");
}

TEST_F(SessionCacheTest, IsEmptyWithOtherCertificates) {
  job()->keep("h0:1", kStart + 10, "secret");
  for (const tls::TlsFiles& files : {filesOf("ca", "alice renewed"), filesOf("another ca", "alice"),
                                     filesOf("c", "aalice"), filesOf("", "")})
    EXPECT_EQ(job(files)->find("h0:1"), "");
}

TEST_F(SessionCacheTest, KeepsWhatIsOfOtherCertificatesAndServices) {
  job()->keep("h0:1", kStart + 10, "secret");
  job(filesOf("ca", "bob"))->keep("h0:1", kStart + 10, "of bob");
  job()->keep("h1:1", kStart + 10, "of h1");
  EXPECT_EQ(job()->find("h0:1"), "secret");
  EXPECT_EQ(job()->find("h1:1"), "of h1");
  EXPECT_EQ(job(filesOf("ca", "bob"))->find("h0:1"), "of bob");
}

TEST_F(SessionCacheTest, OfJobsAtTheSameTimeKeepsBoth) {
  auto one = job();
  auto other = job();
  one->keep("h0:1", kStart + 10, "one");
  other->keep("h1:1", kStart + 10, "other");
  one.reset();
  other.reset();
  EXPECT_EQ(job()->find("h0:1"), "one");
  EXPECT_EQ(job()->find("h1:1"), "other");
}

TEST_F(SessionCacheTest, ForgetsForTheNextJobToo) {
  job()->keep("h0:1", kStart + 10, "secret");
  auto second = job();
  second->forget("h0:1");
  EXPECT_EQ(second->find("h0:1"), "");
  second.reset();
  EXPECT_EQ(job()->find("h0:1"), "");
}

TEST_F(SessionCacheTest, EndsWhatIsOver) {
  const auto first = job();
  first->keep("h0:1", kStart + 10, "secret");
  first->keep("h1:1", kStart, "over already");
  EXPECT_EQ(first->find("h1:1"), "");
  now_ = kStart + 10;
  EXPECT_EQ(first->find("h0:1"), "");
  now_ = kStart - 1;
  EXPECT_EQ(first->find("h0:1"), "");
}

TEST_F(SessionCacheTest, MakesNoFileWhenThereIsNothingToKeep) {
  EXPECT_EQ(job()->find("h0:1"), "");
  job()->forget("h0:1");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SessionCacheTest, WithoutAFileLastsAsLongAsItsJob) {
  path_.clear();
  const auto only = job();
  only->keep("h0:1", kStart + 10, "secret");
  EXPECT_EQ(only->find("h0:1"), "secret");
  EXPECT_EQ(job()->find("h0:1"), "");
}

TEST_F(SessionCacheTest, ThatCannotBeWrittenIsNoMatter) {
  path_ = "/proc/nowhere/tls/sessions";
  job()->keep("h0:1", kStart + 10, "secret");
  EXPECT_EQ(job()->find("h0:1"), "");
}

}  // namespace
}  // namespace pop::tls
