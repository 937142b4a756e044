// The algebra of Dims against arithmetic on numbers: random expressions, evaluated both ways.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "types/dim.h"

namespace sardonyx {
namespace {

using Number = std::optional<int64_t>;  // nothing: a division by zero, or too large
constexpr std::string_view kNames[] = {"N", "M", "K", "batch size"};
using Values = std::array<int64_t, std::size(kNames)>;

enum class Operation {
    kNumber,
    kSymbol,
    kAdd,
    kSubtract,
    kMultiply,
    kFloorDiv,
    kModulo,
    kMax,
    kMin,
    kCeilDiv
};

struct Expression {
    Operation operation;
    int64_t number = 0;
    std::vector<Expression> operands;
};

class Generator {
  public:
    explicit Generator(uint32_t seed) : random_(seed) {}

    int64_t below(int64_t bound) { return static_cast<int64_t>(random_() % bound); }

    Expression expression(int depth) {
        if (depth == 0 || below(5) == 0) {
            return below(3) == 0 ? Expression{Operation::kNumber, below(13) - 4, {}}
                                 : Expression{Operation::kSymbol, below(std::size(kNames)), {}};
        }
        Expression result{static_cast<Operation>(2 + below(8)), 0, {}};
        result.operands.push_back(expression(depth - 1));
        result.operands.push_back(expression(depth - 1));
        return result;
    }

    Values values() {
        Values result;
        for (int64_t& value : result) {
            value = below(4) == 0 ? below(1000) : below(6);
        }
        return result;
    }

  private:
    std::mt19937 random_;
};

Number floor_div(int64_t a, int64_t b) {
    if (b == 0) {
        return std::nullopt;
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Number evaluate(const Expression& expression, const Values& values) {
    if (expression.operation == Operation::kNumber) {
        return expression.number;
    }
    if (expression.operation == Operation::kSymbol) {
        return values[expression.number];
    }
    Number a = evaluate(expression.operands[0], values);
    Number b = evaluate(expression.operands[1], values);
    int64_t result;
    if (!a || !b) {
        return std::nullopt;
    }
    switch (expression.operation) {
        case Operation::kAdd:
            return __builtin_add_overflow(*a, *b, &result) ? std::nullopt : Number(result);
        case Operation::kSubtract:
            return __builtin_sub_overflow(*a, *b, &result) ? std::nullopt : Number(result);
        case Operation::kMultiply:
            return __builtin_mul_overflow(*a, *b, &result) ? std::nullopt : Number(result);
        case Operation::kFloorDiv:
            return floor_div(*a, *b);
        case Operation::kCeilDiv:
            return floor_div(-*a, *b) ? Number(-*floor_div(-*a, *b)) : std::nullopt;
        case Operation::kModulo:
            return floor_div(*a, *b) ? Number(*a - *b * *floor_div(*a, *b)) : std::nullopt;
        case Operation::kMax:
            return std::max(*a, *b);
        default:
            return std::min(*a, *b);
    }
}

Dim build(const Expression& expression) {
    if (expression.operation == Operation::kNumber) {
        return Dim(expression.number);
    }
    if (expression.operation == Operation::kSymbol) {
        return Dim::symbol(kNames[expression.number]);
    }
    Dim a = build(expression.operands[0]), b = build(expression.operands[1]);
    switch (expression.operation) {
        case Operation::kAdd:
            return a + b;
        case Operation::kSubtract:
            return a - b;
        case Operation::kMultiply:
            return a * b;
        case Operation::kFloorDiv:
            return floor_div(a, b);
        case Operation::kCeilDiv:
            return ceil_div(a, b);
        case Operation::kModulo:
            return modulo(a, b);
        case Operation::kMax:
            return max(a, b);
        default:
            return min(a, b);
    }
}

Dim substituted(const Dim& dim, const Values& values) {
    return dim.substitute([&](std::string_view name) {
        size_t index = std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames);
        return Dim(values[index]);
    });
}

struct Counts {
    int evaluated = 0, bounded = 0, equal = 0, different = 0, exact = 0;
};

// The same expression with the operands of commutative operations swapped at random.
Expression rearranged(Expression expression, Generator& generator) {
    for (Expression& operand : expression.operands) {
        operand = rearranged(std::move(operand), generator);
    }
    Operation operation = expression.operation;
    bool is_commutative = operation == Operation::kAdd || operation == Operation::kMultiply ||
                          operation == Operation::kMax || operation == Operation::kMin;
    if (is_commutative && generator.below(2) == 0) {
        std::swap(expression.operands[0], expression.operands[1]);
    }
    return expression;
}

// An expression with all that is said of it whatever the symbols are.
struct Case {
    explicit Case(Expression built) : expression(std::move(built)), dim(build(expression)) {
        lower = dim.lower_bound();
    }
    Expression expression;
    Dim dim;
    std::optional<int64_t> lower;
};

void check_one(const Case& c, const Values& values, Counts& counts) {
    Number expected = evaluate(c.expression, values);
    if (!expected || c.dim.is_unknown()) {
        return;
    }
    ++counts.evaluated;
    Dim got = substituted(c.dim, values);
    ASSERT_TRUE(got.is_static()) << c.dim.to_string();
    ASSERT_EQ(got.value(), *expected) << c.dim.to_string();
    if (c.lower) {
        ++counts.bounded;
        ASSERT_GE(*expected, *c.lower) << c.dim.to_string();
    }
}

struct Comparison {
    Comparison(const Dim& a, const Dim& b)
        : equal(a.equals(b)), different(a.differs(b)), quotient(exact_quotient(a, b)) {}
    bool equal;
    bool different;
    std::optional<Dim> quotient;
};

void check_pair(const Case& a, const Case& b, const Comparison& comparison, const Values& values,
                Counts& counts) {
    Number a_value = evaluate(a.expression, values), b_value = evaluate(b.expression, values);
    if (!a_value || !b_value) {
        return;
    }
    if (comparison.equal) {
        ++counts.equal;
        ASSERT_EQ(*a_value, *b_value) << a.dim.to_string();
    }
    if (comparison.different) {
        ++counts.different;
        ASSERT_NE(*a_value, *b_value) << a.dim.to_string() << " and " << b.dim.to_string();
    }
    Dim quotient = comparison.quotient ? substituted(*comparison.quotient, values) : Dim();
    if (quotient.is_static()) {
        ++counts.exact;
        ASSERT_EQ(quotient.value() * *b_value, *a_value);
    }
}

TEST(DimProperty, AgreesWithNumbers) {
    Generator generator(20);
    Counts counts;
    for (int i = 0; i < 3000; ++i) {
        Case a(generator.expression(1 + i % 4));
        bool is_rearranged = i % 3 == 0;
        Case b(is_rearranged ? rearranged(a.expression, generator)
                             : generator.expression(1 + i % 3));
        Comparison comparison(a.dim, b.dim);
        ASSERT_FALSE(comparison.equal && comparison.different);
        ASSERT_TRUE(!is_rearranged || a.dim.is_unknown() || comparison.equal)
            << a.dim.to_string() << " and " << b.dim.to_string();
        for (int j = 0; j < 6; ++j) {
            Values values = generator.values();
            check_one(a, values, counts);
            check_pair(a, b, comparison, values, counts);
            if (::testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
    // The generator must keep reaching what the test is about.
    EXPECT_GT(counts.evaluated, 8'000);
    EXPECT_GT(counts.bounded, 4'000);
    EXPECT_GT(counts.equal, 3'000);
    EXPECT_GT(counts.different, 1'000);
    EXPECT_GT(counts.exact, 1'000);
}

TEST(DimProperty, TextRoundTrips) {
    Generator generator(21);
    for (int i = 0; i < 2000; ++i) {
        Dim dim = build(generator.expression(1 + i % 5));
        if (dim.is_unknown() || dim.to_string() == "batch size") {
            continue;
        }
        std::optional<Dim> back = Dim::parse(dim.to_string());
        ASSERT_TRUE(back.has_value()) << dim.to_string();
        ASSERT_TRUE(back->equals(dim)) << dim.to_string() << " came back as " << back->to_string();
    }
}

}  // namespace
}  // namespace sardonyx
