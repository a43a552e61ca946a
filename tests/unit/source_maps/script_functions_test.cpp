#include "source_maps/script_functions.h"

#include <gmock/gmock.h>

namespace nodescope {
namespace {

// What the function whose head is at the mark "@" is called: "-" where there is none, "" for one without a
// name, "?" where the text does not tell.
std::string name_at(std::string text) {
  const std::size_t mark = text.find('@');
  text.erase(mark, 1);
  const ScriptFunctions functions(text);
  const ScriptFunction* function = functions.find(mark);
  if (function == nullptr) return "-";
  if (function->naming == Naming::kUnknown) return "?";
  return function->naming == Naming::kNamed ? function->name : "";
}

TEST(ScriptFunctions, AreDeclared) {
  EXPECT_EQ(name_at("function @parse(input) {}"), "parse");
  EXPECT_EQ(name_at("export default async function* @parse<T extends X<Y>>(input: T) {}"), "parse");
  EXPECT_EQ(name_at("@export async function parse(input) {}"), "parse");
  EXPECT_EQ(name_at("function parse@(input) {}"), "parse");
  EXPECT_EQ(name_at("function parse(input) { @work(input); }"), "-");
}

TEST(ScriptFunctions, AreMethods) {
  EXPECT_EQ(name_at("class A { @run(a) {} }"), "run");
  EXPECT_EQ(name_at("class A { private static async @run<T>(a: T): Promise<void> {} }"), "run");
  EXPECT_EQ(name_at("class A { get @size(): number { return 1; } }"), "get size");
  EXPECT_EQ(name_at("class A { @#secret() {} }"), "#secret");
  EXPECT_EQ(name_at("x = { 'quo ted'@() {} }"), "quo ted");
  EXPECT_EQ(name_at("class Shape extends mixin({a: 1}) { @constructor(a) {} }"), "Shape");
  EXPECT_EQ(name_at("const Shape = @class extends Base {}"), "Shape");
  EXPECT_EQ(name_at("if @(x) {}"), "-");
  EXPECT_EQ(name_at("for @(;;) {}"), "-");
}

TEST(ScriptFunctions, HaveTheNameOfWhatTheyAreAssignedTo) {
  EXPECT_EQ(name_at("const parse = @(input) => input;"), "parse");
  EXPECT_EQ(name_at("const parse = @input => input;"), "parse");
  EXPECT_EQ(name_at("const @parse = async (input) => input;"), "parse");
  EXPECT_EQ(name_at("let a = 1, parse = function @(input) {};"), "parse");
  EXPECT_EQ(name_at("const parse: Parser<string, number> = @(input) => 1;"), "parse");
  EXPECT_EQ(name_at("const parse: (a: string) => Map<string, number> = async @(input) => 1;"), "parse");
  EXPECT_EQ(name_at("const parse = @(input: string): Promise<{a: number}> => 1;"), "parse");
  EXPECT_EQ(name_at("exports.parse = @(input) => 1;"), "exports.parse");
  EXPECT_EQ(name_at("class A { onClick = @(event: Event): void => {}; }"), "onClick");
  EXPECT_EQ(name_at("class A { private onClick: Handler = @(event) => {}; }"), "onClick");
  EXPECT_EQ(name_at("x = { parse: @(input) => 1 }"), "parse");
  EXPECT_EQ(name_at("x = { 'parse-it': function @(input) {} }"), "parse-it");
  EXPECT_EQ(name_at("export default @() => 1"), "default");
}

TEST(ScriptFunctions, HaveNoNameWhereACallIsGivenThem) {
  EXPECT_EQ(name_at("items.map(@(item) => item.size)"), "");
  EXPECT_EQ(name_at("items.map(@item => item.size)"), "");
  EXPECT_EQ(name_at("const total = items.reduce(@(a, b) => a + b, 0)"), "");
  EXPECT_EQ(name_at("on('x', async function @() {})"), "");
  EXPECT_EQ(name_at("return @() => 1"), "");
}

TEST(ScriptFunctions, AreNotNamedByAGuess) {
  EXPECT_EQ(name_at("x[key] = @() => 1"), "?");
  EXPECT_EQ(name_at("x = condition ? @() => 1 : null"), "?");
  EXPECT_EQ(name_at("x ||= @() => 1"), "?");
  EXPECT_EQ(name_at("const {a = @() => 1} = x"), "a");
}

TEST(ScriptFunctions, AreNotLookedForInTextsCommentsAndPatterns) {
  EXPECT_EQ(name_at("/* function a() { */ function @b() {}"), "b");
  EXPECT_EQ(name_at("// it's\nfunction @b() {}"), "b");
  EXPECT_EQ(name_at("x = `${ {a: '}'} } function a() {`; function @b() {}"), "b");
  EXPECT_EQ(name_at("x = /[/'\"]{/.test(y); class A { @b() {} }"), "b");
  EXPECT_EQ(name_at("x = <p>Don't {`a`}</p>;\nfunction @b() {}"), "b");
  EXPECT_TRUE(ScriptFunctions("'function a() {}'").all().empty());
}

TEST(ScriptFunctions, SurviveAnyPrefix) {
  const std::string text =
      "export default class A<T> extends B({}) { #x = `a${b`c${d}`}`; get y(): T { return /[/]/.test('\\''); "
      "}\n"
      "z: (a: T) => void = async <U,>(a: U): Promise<U> => { if (a) {} }; }";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    for (const ScriptFunction& function : ScriptFunctions(std::string_view(text).substr(0, size)).all()) {
      EXPECT_LE(function.begin, function.parameters);
      EXPECT_LE(function.first_parameter, size);
    }
  }
}

}  // namespace
}  // namespace nodescope
