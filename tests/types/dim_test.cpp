#include "types/dim.h"

#include <gtest/gtest.h>

#include "types/dim_expression.h"
#include "types/dim_names.h"

namespace sardonyx {
namespace {

const Dim N = Dim::symbol("N");
const Dim M = Dim::symbol("M");

Dim parsed_dim(std::string_view text) {
    std::optional<Dim> dim = Dim::parse(text);
    EXPECT_TRUE(dim.has_value()) << text;
    return dim.value_or(Dim());
}

TEST(Dim, UnknownIsNeverCertain) {
    Dim unknown;
    EXPECT_TRUE(unknown.is_unknown());
    EXPECT_EQ(unknown.to_string(), "?");
    EXPECT_FALSE(unknown.equals(unknown));
    EXPECT_FALSE(unknown.differs(Dim(3)));
    EXPECT_FALSE(unknown.lower_bound().has_value());
    EXPECT_TRUE((unknown + Dim(1)).is_unknown());
    EXPECT_TRUE(max(unknown, N).is_unknown());
    EXPECT_TRUE((unknown * Dim(0)).equals(Dim(0)));
}

TEST(Dim, Static) {
    EXPECT_EQ((Dim(2) * Dim(3) - Dim(7)).value(), -1);
    EXPECT_TRUE((Dim(INT64_MAX) + Dim(1)).is_unknown());
    EXPECT_TRUE((Dim(INT64_MIN) - Dim(1)).is_unknown());
    EXPECT_TRUE((-Dim(INT64_MIN)).is_unknown());
    EXPECT_TRUE((Dim(INT64_MAX) * Dim(2)).is_unknown());
    EXPECT_EQ(floor_div(Dim(-7), Dim(2)).value(), -4);
    EXPECT_EQ(floor_div(Dim(7), Dim(-2)).value(), -4);
    EXPECT_EQ(modulo(Dim(-7), Dim(2)).value(), 1);
    EXPECT_EQ(modulo(Dim(7), Dim(-2)).value(), -1);
    EXPECT_EQ(ceil_div(Dim(7), Dim(2)).value(), 4);
    EXPECT_EQ(ceil_div(Dim(-7), Dim(2)).value(), -3);
    EXPECT_EQ(ceil_div(Dim(INT64_MAX), Dim(2)).value(), INT64_MAX / 2 + 1);
    EXPECT_TRUE(floor_div(Dim(1), Dim(0)).is_unknown());
    EXPECT_TRUE(modulo(Dim(1), Dim(0)).is_unknown());
    EXPECT_TRUE(floor_div(Dim(INT64_MIN), Dim(-1)).is_unknown());
    EXPECT_EQ(Dim(INT64_MIN).to_string(), "-9223372036854775808");
    EXPECT_TRUE(parsed_dim("-9223372036854775808").equals(Dim(INT64_MIN)));
    EXPECT_FALSE(Dim::parse("9223372036854775808").has_value());
}

TEST(Dim, WhatExportersPrint) {
    // TorchScript, torch.export and sympy.
    EXPECT_EQ(parsed_dim("floor(height/2 - 1/2) + 1").to_string(), "(height+1)//2");
    EXPECT_EQ(parsed_dim("((s0 - 1)//2) + 1").to_string(), "(s0+1)//2");
    EXPECT_EQ(parsed_dim("N/2 + N/2").to_string(), "N");
    EXPECT_EQ(parsed_dim("2*(N/2)").to_string(), "N");
    EXPECT_EQ(parsed_dim("floor(N/2 + 1/4)").to_string(), "N//2");
    EXPECT_EQ(parsed_dim("ceiling(N/2)").to_string(), "(N+1)//2");
    EXPECT_EQ(parsed_dim("CeilToInt(IntTrueDiv(N, 2))").to_string(), "(N+1)//2");
    EXPECT_EQ(parsed_dim("FloorDiv(N, 2) + Mod(N, 2)").to_string(),
              parsed_dim("N//2+N%2").to_string());
    EXPECT_EQ(parsed_dim("Max(1, N, M)").to_string(), parsed_dim("max(max(1, N), M)").to_string());
    EXPECT_EQ(parsed_dim("N**2 - N*N").to_string(), "0");
    EXPECT_EQ(parsed_dim("-N**2").to_string(), "-N*N");
    EXPECT_EQ(parsed_dim("N*M/M").to_string(), "N");
    EXPECT_EQ(parsed_dim("floor(N/M)").to_string(), "N//M");
    EXPECT_EQ(parsed_dim("max").to_string(), "max");  // no call
    // No integers, or not understood: names to the caller.
    for (std::string_view text :
         {"N/2", "N/M", "N + 1/2", "sqrt(N)", "floor(N, 2)", "Mod(N/2, 3)", "N**M", "N**99", "N/0",
          "floor()", "floor(N", "1/", "N**", "-2**2"}) {
        EXPECT_FALSE(Dim::parse(text).has_value()) << text;
    }
}

TEST(Dim, RationalTextsAreLimited) {
    std::string text = "N";
    for (int i = 0; i < 80; ++i) {
        text = "floor(" + text + "/2 + 1/3)";
    }
    EXPECT_FALSE(Dim::parse(text).has_value());
    std::string sum = "N/1";
    for (int i = 2; i < 60; ++i) {
        sum += "+N/" + std::to_string(i);
    }
    EXPECT_FALSE(Dim::parse(sum).value_or(Dim()).is_symbolic());  // the common divisor is too large
}

TEST(Dim, TextLooksNatural) {
    EXPECT_EQ((Dim(1) + N).to_string(), "N+1");
    EXPECT_EQ((Dim(1) + N * Dim(2)).to_string(), "2*N+1");
    EXPECT_EQ((N - Dim(1)).to_string(), "N-1");
    EXPECT_EQ((Dim(1) - N).to_string(), "1-N");
    EXPECT_EQ((-N).to_string(), "-N");
    EXPECT_EQ((M - N).to_string(), "M-N");
    EXPECT_EQ((N - M).to_string(), "N-M");
    EXPECT_EQ((M * N * N).to_string(), "M*N*N");
    EXPECT_EQ((Dim(1) + N + M * N).to_string(), "M*N+N+1");
    EXPECT_EQ(max(Dim(3), N).to_string(), "max(N, 3)");
    EXPECT_EQ(max(N - Dim(2), Dim(0)).to_string(), "max(N-2, 0)");
    EXPECT_EQ(floor_div(N, Dim(2)).to_string(), "N//2");
    EXPECT_EQ((Dim(3) * floor_div(N, Dim(2)) - M).to_string(), "3*(N//2)-M");
    EXPECT_EQ((-floor_div(N, Dim(2))).to_string(), "-(N//2)");
    EXPECT_EQ((M - floor_div(N, Dim(2))).to_string(), "M-N//2");
    EXPECT_EQ(floor_div(N, M + Dim(1)).to_string(), "N//(M+1)");
    EXPECT_EQ(floor_div(N, Dim(3) * M).to_string(), "N//(3*M)");
    EXPECT_EQ(modulo(N + M, Dim(4)).to_string(), "(M+N)%4");
    EXPECT_EQ(ceil_div(N, Dim(2)).to_string(), "(N+1)//2");
}

TEST(Dim, NamesThatAreNoIdentifiers) {
    Dim batch = Dim::symbol("batch size");
    EXPECT_EQ(batch.to_string(), "batch size");
    EXPECT_EQ((batch + Dim(1)).to_string(), "'batch size'+1");
    EXPECT_TRUE(parsed_dim("'batch size'+1").equals(batch + Dim(1)));
    EXPECT_FALSE(Dim::parse("batch size").has_value());
    EXPECT_FALSE(Dim::symbol("N+1").equals(N + Dim(1)));
    Dim quoted = Dim::symbol("it's \\ odd") * N;
    EXPECT_TRUE(parsed_dim(quoted.to_string()).equals(quoted));
    EXPECT_TRUE(Dim::symbol("").is_unknown());
}

TEST(Dim, EqualHoweverItWasMade) {
    EXPECT_TRUE((N + M).equals(M + N));
    EXPECT_TRUE(((N + Dim(1)) * (N - Dim(1))).equals(N * N - Dim(1)));
    EXPECT_TRUE((N - N).equals(Dim(0)));
    EXPECT_TRUE((N + Dim(1) - N).equals(Dim(1)));
    EXPECT_TRUE((floor_div(N - Dim(1), Dim(2)) + Dim(1)).equals(ceil_div(N, Dim(2))));
    EXPECT_FALSE(N.equals(M));
    EXPECT_FALSE(N.differs(M));
}

TEST(Dim, Differs) {
    EXPECT_TRUE(N.differs(N + Dim(1)));
    EXPECT_TRUE((N + Dim(2)).differs(Dim(1)));
    EXPECT_FALSE((N + Dim(1)).differs(Dim(1)));
    EXPECT_TRUE((Dim(2) * N).differs(Dim(-1)));
    EXPECT_TRUE(min(N, Dim(3)).differs(Dim(4)));
}

TEST(Dim, FloorDivision) {
    EXPECT_TRUE(floor_div(Dim(2) * N, Dim(2)).equals(N));
    EXPECT_TRUE(floor_div(Dim(4) * N + Dim(3), Dim(2)).equals(Dim(2) * N + Dim(1)));
    EXPECT_TRUE(floor_div(Dim(2) * N + Dim(1), Dim(2)).equals(N));
    EXPECT_EQ(floor_div(N * M, M).to_string(), "M*N//M");  // M may be 0
    EXPECT_EQ(floor_div(N, N).to_string(), "N//N");
    Dim some = max(M, Dim(1));
    EXPECT_TRUE(floor_div(N * some, some).equals(N));
    EXPECT_TRUE(floor_div((N + Dim(1)) * (M + Dim(2)), M + Dim(2)).equals(N + Dim(1)));
    EXPECT_TRUE(floor_div(floor_div(N, Dim(2)), Dim(3)).equals(floor_div(N, Dim(6))));
    EXPECT_EQ(floor_div(Dim(6) * N, Dim(4)).to_string(), "N+N//2");
    EXPECT_TRUE(floor_div(modulo(N, Dim(3)), Dim(3)).equals(Dim(0)));
    EXPECT_TRUE(floor_div(N, Dim(0)).is_unknown());
    EXPECT_TRUE(floor_div(-N, Dim(-1)).equals(N));
    EXPECT_TRUE(floor_div(Dim(INT64_MIN), N).is_symbolic());
}

TEST(Dim, Remainder) {
    EXPECT_TRUE(modulo(Dim(2) * N, Dim(2)).equals(Dim(0)));
    EXPECT_TRUE(modulo(Dim(2) * N + Dim(3), Dim(2)).equals(Dim(1)));
    EXPECT_EQ(modulo(Dim(3) * N, Dim(2)).to_string(), "N%2");
    EXPECT_EQ(modulo(Dim(2) * N, Dim(4)).to_string(), "2*(N%2)");
    EXPECT_TRUE(modulo(N, Dim(1)).equals(Dim(0)));
    EXPECT_TRUE(modulo(min(N, Dim(3)), Dim(4)).equals(min(N, Dim(3))));
}

TEST(Dim, ExtremesSimplify) {
    EXPECT_TRUE(max(N, Dim(0)).equals(N));
    EXPECT_TRUE(min(N, Dim(0)).equals(Dim(0)));
    EXPECT_TRUE(max(N, N).equals(N));
    EXPECT_TRUE(max(N + Dim(1), N).equals(N + Dim(1)));
    EXPECT_TRUE(max(N, M).equals(max(M, N)));
    EXPECT_TRUE(max(max(N, Dim(3)), Dim(5)).equals(max(N, Dim(5))));
    EXPECT_TRUE(min(min(N, Dim(3)), Dim(5)).equals(min(N, Dim(3))));
    EXPECT_TRUE(max(max(N, M), N).equals(max(N, M)));
    EXPECT_TRUE(max(N - min(N, Dim(5)), Dim(0)).equals(N - min(N, Dim(5))));
    EXPECT_TRUE(max(N - floor_div(N, Dim(2)), Dim(0)).equals(N - floor_div(N, Dim(2))));
}

TEST(Dim, LowerBound) {
    EXPECT_EQ(N.lower_bound(), 0);
    EXPECT_EQ((Dim(2) * N + Dim(1)).lower_bound(), 1);
    EXPECT_EQ((N - Dim(1)).lower_bound(), -1);
    EXPECT_EQ((-N).lower_bound(), std::nullopt);
    EXPECT_EQ(floor_div(N, M).lower_bound(), 0);
    EXPECT_EQ(floor_div(N - Dim(3), Dim(2)).lower_bound(), -2);
    EXPECT_EQ(max(N, Dim(3)).lower_bound(), 3);
    EXPECT_EQ(min(N + Dim(4), Dim(3)).lower_bound(), 3);
    EXPECT_EQ((N - Dim(2) * floor_div(N, Dim(2))).lower_bound(), 0);
    EXPECT_EQ(modulo(M - N, Dim(4)).lower_bound(), 0);
}

TEST(Dim, ExactQuotient) {
    EXPECT_TRUE(exact_quotient(N * M, M)->equals(N));
    EXPECT_TRUE(exact_quotient(N * N - Dim(1), N - Dim(1))->equals(N + Dim(1)));
    EXPECT_TRUE(exact_quotient(Dim(12), Dim(4))->equals(Dim(3)));
    EXPECT_FALSE(exact_quotient(N, M).has_value());
    EXPECT_FALSE(exact_quotient(Dim(3) * N, Dim(2)).has_value());
    EXPECT_FALSE(exact_quotient(N, Dim(0)).has_value());
}

TEST(Dim, Substitute) {
    auto values = [](std::string_view name) {
        return name == "N" ? Dim(5) : name == "M" ? Dim::symbol("K") : Dim();
    };
    EXPECT_TRUE((N * M + Dim(1)).substitute(values).equals(parsed_dim("5*K+1")));
    EXPECT_TRUE(max(N, Dim(3)).substitute(values).equals(Dim(5)));
    EXPECT_TRUE(Dim::symbol("other").substitute(values).is_unknown());
    EXPECT_TRUE(Dim(3).substitute(values).equals(Dim(3)));
}

TEST(Dim, SymbolsEachOnce) {
    Dim n = Dim::symbol("N"), m = Dim::symbol("M");
    EXPECT_EQ(symbols_of(n * m + floor_div(m, Dim(2))), (std::vector<std::string>{"M", "N"}));
    EXPECT_EQ(symbols_of(Dim(3)), std::vector<std::string>());
    EXPECT_EQ(symbols_of(Dim()), std::vector<std::string>());
}

TEST(Dim, Parse) {
    EXPECT_TRUE(parsed_dim(" ( N - 1 ) // 2 + 1 ").equals(ceil_div(N, Dim(2))));
    EXPECT_TRUE(parsed_dim("2 * -N").equals(Dim(-2) * N));
    EXPECT_TRUE(parsed_dim("--3").equals(Dim(3)));
    EXPECT_TRUE(parsed_dim("-N//2").equals(floor_div(-N, Dim(2))));
    EXPECT_TRUE(parsed_dim("min(N, max(M, 3)) % 4").is_symbolic());
    EXPECT_TRUE(parsed_dim("max + min").is_symbolic());  // without parentheses they are names
    EXPECT_TRUE(parsed_dim("?").is_unknown());
    EXPECT_TRUE(parsed_dim("N//0").is_unknown());
    for (std::string_view bad : {"", " ", "N+", "N M", "(N", "N)", "2N", "N/2", "max(N)",
                                 "max(N, 2", "f(N)", "N**M", "'", "''", "'N", "a.b", "+N", "1 2"}) {
        EXPECT_FALSE(Dim::parse(bad).has_value()) << bad;
    }
}

TEST(Dim, HostileSizes) {
    EXPECT_FALSE(Dim::parse(std::string(100'000, '(')).has_value());
    EXPECT_FALSE(Dim::parse(std::string(1000, '(')).has_value());
    EXPECT_TRUE(parsed_dim(std::string(999, '-') + "1").equals(Dim(-1)));
    EXPECT_TRUE(Dim::symbol(std::string(1 << 20, 'x')).is_unknown());
    Dim nested = N, power = N, wide = N;
    for (int i = 0; i < 100; ++i) {
        nested = max(floor_div(nested, M + Dim(1)), Dim(i));
        power = power * power;
        wide = wide + Dim::symbol("s" + std::to_string(i));
    }
    EXPECT_TRUE(nested.is_unknown());
    EXPECT_TRUE(power.is_unknown());
    EXPECT_TRUE(wide.is_unknown());
    Dim product = N;
    for (int i = 0; i < 64; ++i) {
        product = product * Dim(2);
    }
    EXPECT_TRUE(product.is_unknown());
}

// Many places to sharpen a bound at, each in the other: the work must not multiply.
TEST(Dim, BoundsOfDeepExpressionsAreCheap) {
    Dim dim = N;
    int depth = 0;
    for (; depth < 14 && !dim.is_unknown(); ++depth) {
        Dim other = Dim::symbol("s" + std::to_string(depth));
        dim = max(dim - other, other) - min(dim, other + Dim(depth));
        dim.lower_bound();
    }
    EXPECT_GE(depth, 4);
}

}  // namespace
}  // namespace sardonyx
