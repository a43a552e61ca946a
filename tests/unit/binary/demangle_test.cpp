#include "binary/demangle.h"

#include <gtest/gtest.h>

#include <vector>

namespace nodescope {
namespace {

struct Case {
  std::string mangled;
  std::string plain;
};

// The expected names are those of GNU binutils 2.40: `c++filt -p -i` (no parameters, not verbose) asks its
// demangler what perf asks it.
TEST(Demangle, CppNamesAsPerfPrintsThem) {
  const std::vector<Case> cases = {
      {"_ZN2v88internal7Isolate10ThrowErrorEi", "v8::internal::Isolate::ThrowError"},
      {"_ZNK4node11Environment5CloseEv", "node::Environment::Close"},
      {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"},
      {"_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIiSaIiEESt4lessIS5_"
       "ESaISt4pairIKS5_S8_EEEixERSC_",
       "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
       "std::vector<int, std::allocator<int> >, std::less<std::__cxx11::basic_string<char, "
       "std::char_traits<char>, std::allocator<char> > >, "
       "std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, "
       "std::allocator<char> > const, std::vector<int, std::allocator<int> > > > >::operator[]"},
      {"_ZZN4node10BaseObject11MakeGarbageEiENKUlvE_clEv",
       "node::BaseObject::MakeGarbage(int)::{lambda()#1}::operator()"},
      {"_ZZ4mainENUlT_E0_4_FUNIiEEDaS_", "main::{lambda(auto:1)#2}::_FUN<int>"},
      {"_Z1fIiEvT_", "f<int>"},
      {"_Z1fPFviE", "f"},
      {"_ZlsRSoRK1A", "operator<<"},
      {"_ZN1AlsIiEEvv", "A::operator<< <int>"},
      {"_ZN1AltIiEEvv", "A::operator< <int>"},
      {"_ZN1AcvT_IiEEv", "A::operator int<int>"},
      {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"},
      {"_ZNSsC1EPKcRKSaIcE",
       "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string"},
      {"_Znwm", "operator new"},
      {"_ZTVN2v88internal6StringE", "vtable for v8::internal::String"},
      {"_ZThn16_N3FooD1Ev", "non-virtual thunk to Foo::~Foo()"},
      {"_ZTWN5lexer4lastE", "TLS wrapper function for lexer::last"},
      {"_Z3foov.cold", "foo"},
      {"_Z3foov.isra.0.part.1", "foo"},
      {"_ZN3FooC1Ev", "Foo::Foo"},
      {"_ZN3FooD0Ev", "Foo::~Foo"},
      {"_Z1gIXadL_ZN1C1fEiEEEvv", "g<&C::f>"},
      {"_Z1gIXadL_ZNK1C1fEvEEEvv", "g<&(C::f() const)>"},
      {"_Z1gILi5EEvv", "g<5>"},
      {"_Z1gILb1EEvv", "g<true>"},
      {"_ZN1A1BUt_1fEv", "A::B::{unnamed type#1}::f"},
      {"_Z3fooB5cxx11v", "foo[abi:cxx11]"},
      {"_ZN4llvm6detail9PassModelINS_8FunctionENS_4PassENS_15AnalysisManagerIS2_JEEEJEE3runEv",
       "llvm::detail::PassModel<llvm::Function, llvm::Pass, llvm::AnalysisManager<llvm::Function>>::run"},
      {"_Z1fIJidEEvDpT_", "f<int, double>"},
      {"_Z1fDn", "f"},
      {"_Z1fIDnEvT_", "f<decltype(nullptr)>"},
      {"_Z3fooGARBAGE", "foo"},
      {"_Zfoo", "_Zfoo"},
      {"_ZN2v88internal12_GLOBAL__N_16InvokeEPNS0_7IsolateERKNS1_12InvokeParamsE",
       "v8::internal::(anonymous namespace)::Invoke"},
  };
  for (const Case& c : cases) EXPECT_EQ(demangle(c.mangled), c.plain) << c.mangled;
}

TEST(Demangle, RustNamesAsPerfPrintsThem) {
  const std::vector<Case> cases = {
      {"_RNvC6_123foo3bar", "123foo::bar"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
       "utf8_idents::საჭმელად_გემრიელი_სადილი"},
      {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
      {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
       "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
      {"_RC3foo.llvm.9D1C9369", "foo"},
      {"_RINvCs1234_7mycrate3fooKj1f_E", "mycrate::foo::<31>"},
      {"_RINvCs1234_7mycrate3fooKb1_E", "mycrate::foo::<true>"},
      {"_RINvCs1234_7mycrate3fooKc76_E", "mycrate::foo::<'v'>"},
      {"_RINvCs1234_7mycrate3fooKan5_E", "mycrate::foo::<-5>"},
      {"_RINvCs_7mycrate3fooFUKCmEuE", "mycrate::foo::<unsafe extern \"C\" fn(u32)>"},
      {"_RINvCs_7mycrate3fooFG_RL0_mEuE", "mycrate::foo::<for<'a> fn(&'a u32)>"},
      {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
      {"_RNvXs4_NtNtNtCsgEmfK2I1SDS_4core3fmt3num3impsNtB9_7Display3fmt", "<i16 as core::fmt::Display>::fmt"},
      {"_RINvMs4_NtCsgY6Mt91CT9J_14rustc_demangle2v0NtB6_7Printer14print_sep_listNCNvB2_11print_consts0_"
       "0EB8_",
       "<rustc_demangle::v0::Printer>::print_sep_list::<<rustc_demangle::v0::Printer>::print_const::{closure#"
       "2}>"},
      {"_RNvXs3_NtNtCsgEmfK2I1SDS_4core4hash3sipINtB5_6HasherNtB5_11Sip13RoundsENtB7_"
       "6Hasher5writeCsjJZnS3P2TZD_9longnames",
       "<core::hash::sip::Hasher<core::hash::sip::Sip13Rounds> as core::hash::Hasher>::write"},
      {"_RNCNCNvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace10__print_fmts_00B9_",
       "std::sys::backtrace::_print_fmt::{closure#1}::{closure#0}"},
      {"_ZN4test8foo..bar17h05af221e174051e9E", "test::foo::bar"},
      {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
       "<Test + 'static as foo::Bar<Test>>::bar"},
      {"_ZN3foo17h05af221e174051e9E.llvm.123", "foo"},
      {"_ZN3f$X17h05af221e174051e9E", "f$X"},
      {"_ZN3foo17h0000000000000000E", "foo::h0000000000000000"},
  };
  for (const Case& c : cases) EXPECT_EQ(demangle(c.mangled), c.plain) << c.mangled;
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const std::string name :
       {"", "main", "_start", "__libc_start_main@@GLIBC_2.34", "_Z", "_R", "_ZN", "_ZN3foo",
        "Builtins_LoadIC", "_D3std5stdioQ", "_RNvC6_123foo3ba", "_RNvC6_123foo3barX"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

// Template arguments that GNU binutils 2.40 does not know yet (constraints of C++20): by hand.
TEST(Demangle, NamesThatAreNewerThanGnu) {
  EXPECT_EQ(
      demangle(
          "_ZN4node21FIXED_ONE_BYTE_STRINGILm9EQgtT_Li0EEEN2v85LocalINS1_6StringEEEPNS1_7IsolateERAT__Kc"),
      "node::FIXED_ONE_BYTE_STRING<9ul>");
}

TEST(Demangle, NamesThatUnfoldExponentiallyStayMangled) {
  // A<int, int>, A<that, that>, A<that, that> …: each doubles.  S_ is f, S0_ is A, S1_ the first of them.
  std::string name = "_Z1fI1AIiiE";
  const auto substitution = [](int index) {
    const std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string text = "S";
    if (index >= 36) text += digits[static_cast<std::size_t>(index / 36)];
    text += digits[static_cast<std::size_t>(index % 36)];
    return text + "_";
  };
  std::string shallow;
  for (int i = 0; i < 200; ++i) {
    name += "S0_I" + substitution(i + 1) + substitution(i + 1) + "E";
    if (i == 5) shallow = name + "EvT_";
  }
  name += "EvT_";
  EXPECT_EQ(demangle(name), name);
  EXPECT_TRUE(demangle(shallow).starts_with("f<A<int, int>, A<A<int, int>, A<int, int> >, "));
}

TEST(Demangle, PacksThatMultiplyStayMangled) {
  // f<pack of 600>(void (*)(pack…)…) with expansions in expansions, as part of a local name so that it is
  // printed.
  std::string name = "_ZZ1fIJ" + std::string(600, 'i') + "EEv";
  for (int i = 0; i < 100; ++i) name += "DpPFvDpT_E";
  name += "E1x";
  EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, ReferencesToLaterArgumentsStayBounded) {
  // Conversion operators to a type that refers to its own arguments.
  for (const std::string name : {"_ZN1AcvT_ITL0_EEv", "_ZN1AcvPT_IS2_EEv", "_ZN1AcvM1BT_IS_IS2_S2_EEEv"}) {
    EXPECT_LT(demangle(name).size(), 1000u) << name;
  }
}

TEST(Demangle, DeepNestingStaysMangled) {
  for (const std::string& name :
       {"_Z1fI" + std::string(4000, 'P') + "iEvT_", "_ZZ1f" + std::string(4000, 'K') + "iE1x",
        "_Z1fIX" + std::string(4000, 'n') + "tLi1EEEvv", "_Z1fI" + std::string(4000, 'J'),
        "_Z" + std::string(4000, 'Z'), "_Z1fIX" + std::string(1200, 's') + "rT_1xEEvv",
        "_RINvC1a1f" + std::string(4000, 'R') + "mE", "_R" + std::string(4000, 'M')}) {
    EXPECT_EQ(demangle(name), name);
  }
}

std::string base_62(std::size_t value) {
  if (value == 0) return "_";
  --value;
  std::string digits;
  do {
    digits.insert(0, 1, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % 62]);
    value /= 62;
  } while (value != 0);
  return digits + "_";
}

TEST(Demangle, RustNamesThatUnfoldExponentiallyStayMangled) {
  std::string name = "INvC1a1f";
  std::size_t previous = name.size();
  name += "TmmE";
  for (int i = 0; i < 100; ++i) {
    const std::size_t begin = name.size();
    name += "TB" + base_62(previous) + "B" + base_62(previous) + "E";
    previous = begin;
  }
  name = "_R" + name + "E";
  EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, ARustNameThatRefersToItselfStaysMangled) {
  EXPECT_EQ(demangle("_RB_"), "_RB_");
  EXPECT_EQ(demangle("_RNvB_1a"), "_RNvB_1a");
  EXPECT_EQ(demangle("_RINvC1a1fTB8_EE"), "_RINvC1a1fTB8_EE");
}

TEST(Demangle, LongNamesStayMangled) {
  const std::string name = "_Z4000" + std::string(4000, 'a') + "v";
  EXPECT_EQ(demangle(name), std::string(4000, 'a'));
  const std::string longer = "_Z5000" + std::string(5000, 'a') + "v";
  EXPECT_EQ(demangle(longer), longer);
}

TEST(Demangle, EveryPrefixIsSafe) {
  for (const std::string name :
       {"_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIiSaIiEESt4lessIS5_"
        "ESaISt4pairIKS5_S8_"
        "EEEixERSC_",
        "_ZZN4node10BaseObject11MakeGarbageEiENKUlT_E_clIXadL_ZNK1C1fEvEEEEvv",
        "_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
        "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y"}) {
    for (std::size_t size = 0; size < name.size(); ++size) (void)demangle(name.substr(0, size));
  }
}

}  // namespace
}  // namespace nodescope
