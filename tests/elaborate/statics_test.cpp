// Python's arithmetic, comparisons and texts on what is known at compile time. The values on the
// right are those of CPython.
#include "elaborate/objects/statics.h"

#include "elaborate/objects/formatting.h"
#include "elaborate/objects/plain.h"
#include "elaborated.h"

namespace sardonyx::elaborate {
namespace {

using lowering::Binary;
using syntax::CompareOp;

class Statics : public testing::Test {
  protected:
    std::string binary(Binary op, const Object& a, const Object& b) {
        Object made = static_binary(made_.context(), op, a, b, {0, 1});
        return made.is_error() ? made_.codes().empty() ? "?" : made_.codes().back() : repr(made);
    }
    std::string compare(CompareOp op, const Object& a, const Object& b) {
        return repr(static_compare(made_.context(), op, a, b, {0, 1}));
    }
    std::string formatted(const Object& object, std::string_view spec) {
        Object made = format_object(made_.context(), object, spec, {0, 1});
        return made.is_error() ? "?" : made.text();
    }
    Elaborated made_{"@script()\ndef f(x):\n    return x\n"};
};

Object whole(int64_t value) {
    return Object::integer(value);
}
Object text(std::string value) {
    return Object::string(std::move(value));
}

TEST_F(Statics, IntegersRoundDown) {
    EXPECT_EQ(binary(Binary::kFloorDiv, whole(-7), whole(2)), "-4");
    EXPECT_EQ(binary(Binary::kMod, whole(-7), whole(2)), "1");
    EXPECT_EQ(binary(Binary::kMod, whole(7), whole(-2)), "-1");
    EXPECT_EQ(binary(Binary::kDiv, whole(7), whole(2)), "3.5");
    EXPECT_EQ(binary(Binary::kPow, whole(2), whole(-1)), "0.5");
    EXPECT_EQ(binary(Binary::kRightShift, whole(-5), whole(1)), "-3");
}

TEST_F(Statics, IntegersPast64Bits) {
    EXPECT_EQ(binary(Binary::kPow, whole(2), whole(64)), "18446744073709551616");
    EXPECT_EQ(binary(Binary::kAdd, whole(INT64_MAX), whole(1)), "9223372036854775808");
    EXPECT_EQ(binary(Binary::kPow, whole(10), whole(400)), "static-error");
}

TEST_F(Statics, FloatsFollowPython) {
    EXPECT_EQ(binary(Binary::kFloorDiv, Object::real(-7.5), whole(2)), "-4.0");
    EXPECT_EQ(binary(Binary::kMod, Object::real(-7.5), whole(2)), "0.5");
    EXPECT_EQ(binary(Binary::kDiv, whole(1), whole(0)), "static-error");
}

TEST_F(Statics, TextsAndLists) {
    EXPECT_EQ(binary(Binary::kMul, text("ab"), whole(2)), "'abab'");
    EXPECT_EQ(binary(Binary::kAdd, Object::list({whole(1)}), Object::list({whole(2)})), "[1, 2]");
    EXPECT_EQ(binary(Binary::kAdd, text("a"), whole(1)), "static-error");
}

TEST_F(Statics, Comparisons) {
    EXPECT_EQ(compare(CompareOp::kEq, whole(1), Object::real(1.0)), "True");
    EXPECT_EQ(compare(CompareOp::kEq, whole((int64_t{1} << 53) + 1), Object::real(0x1p53)),
              "False");
    EXPECT_EQ(compare(CompareOp::kIn, text("b"), text("abc")), "True");
    EXPECT_EQ(compare(CompareOp::kLt, Object::tuple({whole(1), whole(2)}),
                      Object::tuple({whole(1), whole(3)})),
              "True");
    EXPECT_EQ(compare(CompareOp::kIs, Object::none(), Object::none()), "True");
}

TEST_F(Statics, TruthIsOfTheWhole) {
    EXPECT_EQ(truth(Object::list({})), std::optional(false));
    EXPECT_EQ(truth(Object::list({whole(0)})), std::optional(true));
    EXPECT_EQ(truth(Object::real(-0.0)), std::optional(false));
    EXPECT_EQ(truth(text("")), std::optional(false));
}

TEST_F(Statics, Formats) {
    EXPECT_EQ(formatted(whole(1234567), ",d"), "1,234,567");
    EXPECT_EQ(formatted(Object::real(2.5), "08.3f"), "0002.500");
    EXPECT_EQ(formatted(text("ab"), ">5"), "   ab");
    EXPECT_EQ(formatted(whole(255), "#x"), "0xff");
}

TEST(IsPlain, LooksIntoContainers) {
    Object one = Object::integer(1);
    Object script = Object::from_pointer(ObjectKind::kScript, std::shared_ptr<void>());
    EXPECT_TRUE(is_plain(one));
    EXPECT_TRUE(is_plain(Object::make(ObjectKind::kConstant, Tensor::scalar(1.0F))));
    EXPECT_TRUE(is_plain(Object::list({one, Object::tuple({Object::string("a")})})));
    EXPECT_FALSE(is_plain(script));
    EXPECT_FALSE(is_plain(Object::list({one, Object::tuple({script})})));
    DictObject dict;
    dict.set(one, Object::none());
    EXPECT_TRUE(is_plain(Object::dict(dict)));
    dict.set(Object::string("f"), script);
    EXPECT_FALSE(is_plain(Object::dict(std::move(dict))));
}

}  // namespace
}  // namespace sardonyx::elaborate
