// SPDX-License-Identifier: Apache-2.0
// The files of the web page, and who may use the page's calls.
#include <gmock/gmock.h>

#include "tests/unit/popdistd/web/web_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PageTest : public WebTest {
 protected:
  PageTest() { serve(); }
};

TEST_F(PageTest, IsServedWithItsParts) {
  EXPECT_THAT(ask("GET", "/"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: text/html"),
                                     HasSubstr("src=\"assets/page.js\"")));
  EXPECT_THAT(ask("GET", "/assets/page.js"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: text/javascript")));
  EXPECT_THAT(ask("GET", "/assets/page.css"), HasSubstr("Content-Type: text/css"));
  EXPECT_THAT(ask("GET", "/assets/icon.svg"), AllOf(HasSubstr("image/svg+xml"), HasSubstr("<svg")));
  EXPECT_THAT(ask("GET", "/assets/other.js"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask("HEAD", "/"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n")));
}

TEST_F(PageTest, MayLoadNothingFromElsewhere) {
  EXPECT_THAT(ask("GET", "/"),
              AllOf(HasSubstr("default-src 'none'; script-src 'self'"), HasSubstr("frame-ancestors 'none'"),
                    HasSubstr("nosniff"), Not(HasSubstr("unsafe-inline"))));
}

TEST_F(PageTest, IsNotSentAgainToWhoHasIt) {
  const std::string whole = ask("GET", "/assets/page.js");
  const std::size_t at = whole.find("ETag: ");
  ASSERT_NE(at, std::string::npos);
  const std::string tag = whole.substr(at + 6, whole.find("\r\n", at) - at - 6);
  EXPECT_THAT(ask("GET", "/assets/page.js", "", "If-None-Match: " + tag + "\r\n"),
              AllOf(StartsWith("HTTP/1.1 304"), EndsWith("\r\n\r\n")));
  EXPECT_THAT(ask("GET", "/assets/page.js", "", "If-None-Match: \"other\"\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(PageTest, IsSmallerForWhoTakesGzip) {
  const std::string plain = ask("GET", "/assets/page.js");
  const std::string packed = ask("GET", "/assets/page.js", "", "Accept-Encoding: gzip, br\r\n");
  EXPECT_THAT(packed, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Encoding: gzip"),
                            HasSubstr("\r\n\r\n\x1f\x8b")));
  EXPECT_LT(packed.size(), plain.size() / 2);
}

// Browsers say where a page that calls comes from, and let it send such a header only to where it comes from.
TEST_F(PageTest, OfAnotherSiteMayCallNothing) {
  const std::string json = "Content-Type: application/json\r\n";
  const std::string from = json + "Origin: http://evil.example\r\n";
  EXPECT_THAT(ask("POST", "/v1/Cancel", "{}", from),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("X-Popdist")));
  EXPECT_TRUE(loop.run([this] { return api.calls.empty(); }));
  EXPECT_THAT(ask("POST", "/v1/Cancel", "{}", json + "Origin: http://localhost\r\nX-Popdist: 1\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask("POST", "/v1/Cancel", "{}", json), StartsWith("HTTP/1.1 200")) << "no browser";
}

}  // namespace
}  // namespace pop::popdistd
