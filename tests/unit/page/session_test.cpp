#include "page/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/text.h"
#include "page/reply.h"
#include "page/table_rows.h"
#include "page/typescript/wire_types.h"
#include "support/profiles.h"

namespace nodescope::page {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::uint32_t u32_at(const std::string& reply, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, reply.data() + at, sizeof(value));
  return value;
}

std::string json_of(const std::string& reply) {
  EXPECT_EQ(u32_at(reply, 0), reply.size());
  return reply.substr(8, u32_at(reply, 4));
}

TEST(Query, IsReadAsUrlSearchParamsWritesIt) {
  const auto query = Query::parse("a=1&b=x+y%2Bz%3D&&c&=d&a=2&bad=%zz%");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->text("a"), "1");
  EXPECT_THAT(query->all("a"), ElementsAre("1", "2"));
  EXPECT_EQ(query->text("b"), "x y+z=");
  EXPECT_TRUE(query->find("c"));
  EXPECT_EQ(query->text("bad"), "%zz%");
  EXPECT_FALSE(query->find("missing"));
}

TEST(Query, ReadsNumbersInTheirBounds) {
  const auto query = Query::parse("n=1.5e3&bad=1x&nan=nan&hex=0x10&list=3,5,9&empty=&neg=-1&holes=1,,2");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->number("n", 0, 0, 1e9).value(), 1500);
  EXPECT_EQ(query->number("missing", 7, 0, 1).value(), 7);
  EXPECT_EQ(query->number("empty", 7, 0, 1).value(), 7);
  for (const char* key : {"bad", "nan", "hex", "neg"}) EXPECT_FALSE(query->number(key, 0, 0, 1e9)) << key;
  EXPECT_FALSE(query->number("n", 0, 0, 10));
  EXPECT_THAT(query->integers("list", 9).value(), ElementsAre(3, 5, 9));
  EXPECT_FALSE(query->integers("list", 8));
  EXPECT_FALSE(query->integers("holes", 8));
  EXPECT_FALSE(query->integer("n", 0, 10));
}

TEST(Query, KnowsThePartBelowAPrefix) {
  const auto query = Query::parse("file=1&base.file=2&base.from=3");
  EXPECT_EQ(query->below("base.").text("file"), "2");
  EXPECT_TRUE(query->below("other.").empty());
}

TEST(Query, IsBounded) {
  EXPECT_FALSE(Query::parse(std::string((1 << 20) + 1, 'a')));
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "a=1&";
  EXPECT_FALSE(Query::parse(many));
}

struct InnerReply {
  std::uint32_t depth = 0;
  std::vector<double> numbers;
};
NODESCOPE_WIRE(InnerReply, (depth, numbers))

struct SampleReply {
  std::string name;
  std::vector<std::string> words;
  std::optional<bool> missing;
  Cause cause = Cause::kGc;
  std::vector<std::uint8_t> bytes;
  InnerReply inner;
  std::map<std::string, std::string> facts;
};
NODESCOPE_WIRE(SampleReply, (name, words, missing, cause, bytes, inner, facts))

TEST(Reply, PutsColumnsAfterTheJson) {
  const std::string bytes =
      write_reply(SampleReply{"x", {"a", "b"}, {}, Cause::kGc, {1, 2, 3}, {7, {1.5}}, {{"k\"", "v"}}});
  const std::string json = json_of(bytes);
  EXPECT_THAT(
      json, HasSubstr(R"({"name":"x","words":["a","b"],"cause":"gc","inner":{"depth":7},"facts":{"k\"":"v"},)"
                      R"("columns":{"bytes":{"type":"u8","offset":)"));
  EXPECT_THAT(json, HasSubstr(R"("inner.numbers":{"type":"f64","offset":)"));
  const auto offset_of = [&](std::string_view name) {
    const std::size_t at = json.find("offset\":", json.find(name)) + 8;
    return static_cast<std::size_t>(std::stoul(json.substr(at)));
  };
  EXPECT_EQ(bytes.substr(offset_of("bytes"), 3), "\x01\x02\x03");
  double number = 0;
  ASSERT_LE(offset_of("numbers") + sizeof(number), bytes.size());
  EXPECT_EQ(offset_of("numbers") % 8, 0u);
  std::memcpy(&number, bytes.data() + offset_of("numbers"), sizeof(number));
  EXPECT_EQ(number, 1.5);
}

TEST(Wire, DescribesRepliesInTypeScript) {
  const std::string types = wire_types();
  EXPECT_THAT(types,
              HasSubstr("export const kCauseNames = ['js', 'gc', 'compile', 'regexp', 'native', 'kernel', "
                        "'idle', 'other'] as const;\nexport type CauseName = "));
  EXPECT_THAT(types, HasSubstr("export const enum MarkerKind {\n  gc = 0,\n  stall = 1,"));
  EXPECT_THAT(
      types,
      HasSubstr("export interface LanesReply {\n  bins: number;\n  bin_ns: number;\n  first_ns: number;\n"
                "  count: Uint32Array;\n  cpu_ns?: Float64Array;\n}"));
  EXPECT_THAT(types, HasSubstr("  stalls: StallInfo[];\n"));
  EXPECT_THAT(types, HasSubstr("  callers: TreeColumns;\n"));
  EXPECT_THAT(types, HasSubstr("export interface Replies {\n  about: About;\n  heat: HeatReply;\n"));
}

TEST(Session, TablesSayWhichThreadsARowHas) {
  Session session;
  session.add("a", testing::profile_of("main;run 3"));
  const std::string json = json_of(session.ask("view=table&group=thread"));
  EXPECT_THAT(json, HasSubstr("row_of_thread"));
  EXPECT_THAT(json_of(session.ask("view=table")), Not(HasSubstr("row_of_thread")));
}

TEST(Session, AnswersInValidTextWhateverTheNames) {
  Session session;
  session.add("\xFF\"</script>", testing::profile_of("js:\xC3(;</script><script> 3\n\"}\\;\xF0\x9F 2"));
  for (const char* view : {"about", "heat", "lanes", "causes", "flame", "table", "stalls", "verdict", "files",
                           "markers", "sandwich", "source", "export&format=folded", "export&format=csv"}) {
    const std::string json = json_of(session.ask(std::string("view=") + view));
    EXPECT_TRUE(is_valid_utf8(json)) << view;
    EXPECT_THAT(json, Not(HasSubstr("error"))) << view;
  }
}

TEST(Session, KeepsSumsThatAreAskedForAgain) {
  Session session;
  session.add("a", testing::profile_of("main;run 3"));
  const auto asked = session.parse_asked(*Query::parse(""));
  ASSERT_TRUE(asked);
  const auto first = session.sums(*asked);
  EXPECT_EQ(first->get(), session.sums(*asked)->get());
  EXPECT_NE(first->get(), session.sums(*asked, true)->get());
  auto other = *asked;
  for (int i = 0; i < 10; ++i) {
    other.selection.time = TimeRange{i, i + 1};
    ASSERT_TRUE(session.sums(other));
  }
  EXPECT_NE(first->get(), session.sums(*asked)->get());
}

TEST(Session, TablesHaveEitherOrder) {
  Session session;
  session.add("a", testing::profile_of("main;run 3\nmain;wait 1\nmain;read 2"));
  const auto names = [&](const char* text) {
    const auto query = Query::parse(text);
    std::vector<std::string> found;
    const auto table = derive_table(session, *query, *parse_table_request(session, *query));
    for (const TableRow& row : table->rows) found.push_back(row.name);
    return found;
  };
  EXPECT_THAT(names("sort=self"), ElementsAre("run", "read", "wait", "main"));
  EXPECT_THAT(names("sort=self&order=reversed"), ElementsAre("main", "wait", "read", "run"));
  EXPECT_THAT(names("sort=name&order=reversed&limit=2"), ElementsAre("wait", "run"));
}

TEST(Session, RefusesWithoutARecording) {
  Session session;
  EXPECT_THAT(json_of(session.ask("view=flame")), HasSubstr("no recording is open"));
  EXPECT_THAT(json_of(session.ask("view=nothing")), HasSubstr("no such view"));
}

}  // namespace
}  // namespace nodescope::page
