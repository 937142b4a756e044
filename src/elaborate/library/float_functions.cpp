#include "elaborate/library/float_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "elaborate/objects/array_sums.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

namespace {

// Nothing after a diagnostic: they are not all numbers that are known.
std::optional<std::vector<double>> known_floats(Context& c, const std::vector<Object>& objects,
                                                std::string_view name, syntax::Range range) {
    std::vector<double> values;
    for (const Object& given : objects) {
        Object one = plain_number(given);
        if (!one.is_number()) {
            refuse(c, range, fmt::format("`{}` of {}", name, kind_name(one)),
                   "it takes numbers that are known when the script is compiled");
            return std::nullopt;
        }
        values.push_back(one.as_double());
    }
    return values;
}

std::optional<std::vector<double>> known_items(Context& c, const Object& object,
                                               std::string_view name, syntax::Range range) {
    std::optional<std::vector<Object>> items = static_items(c, object);
    if (!items) {
        refuse(c, range, fmt::format("`{}` of {}", name, kind_name(object)), "give it a list");
        return std::nullopt;
    }
    return known_floats(c, *items, name, range);
}

// x + y and what rounding has taken from it, where |x| >= |y|; the same of x * y.
std::pair<double, double> exact_sum_of(double x, double y) {
    double sum = x + y;
    return {sum, (x - sum) + y};
}

std::pair<double, double> exact_product_of(double x, double y) {
    double product = x * y;
    return {product, std::fma(x, y, -product)};
}

// The length of a vector, to the last bit in nearly all cases: the squares are summed with what
// rounding takes from them, and the root is corrected by what its own square misses.
double length_of(std::vector<double> values) {
    double greatest = 0;
    bool has_nan = false;
    for (double& one : values) {
        one = std::fabs(one);
        has_nan = has_nan || std::isnan(one);
        greatest = one > greatest ? one : greatest;
    }
    if (std::isinf(greatest) || has_nan) {
        return std::isinf(greatest) ? greatest : std::numeric_limits<double>::quiet_NaN();
    }
    if (greatest == 0 || values.size() <= 1) {
        return greatest;
    }
    int exponent = 0;
    std::frexp(greatest, &exponent);
    constexpr double kLeast = std::numeric_limits<double>::min();
    if (exponent < -1023) {  // the scale would be too large
        for (double& one : values) {
            one /= kLeast;
        }
        return kLeast * length_of(std::move(values));
    }
    double scale = std::ldexp(1.0, -exponent);
    double sum = 1, low = 0, lost = 0;
    auto add = [&](double x, double y) {
        auto [product, of_product] = exact_product_of(x, y);
        auto [next, of_sum] = exact_sum_of(sum, product);
        sum = next;
        low += of_product;
        lost += of_sum;
    };
    for (double one : values) {
        add(one * scale, one * scale);
    }
    double root = std::sqrt(sum - 1.0 + (low + lost));
    add(-root, root);
    root += (sum - 1.0 + (low + lost)) / (2.0 * root);
    return root / scale;
}

Object checked_result(Context& c, const Arguments& a, double value, bool are_finite) {
    return are_finite && !std::isfinite(value)
               ? refuse(c, a.range, "a result that is too large for a float, or has no value")
               : Object::real(value);
}

bool are_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double one) { return std::isfinite(one); });
}

}  // namespace

Object math_hypot(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> values =
        known_floats(c, a.positional, "math.hypot", a.range);
    return values ? Object::real(length_of(std::move(*values))) : Object::error();
}

Object math_dist(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> p =
        known_items(c, a.positional[0], "math.dist", a.ranges[0]);
    std::optional<std::vector<double>> q =
        p ? known_items(c, a.positional[1], "math.dist", a.ranges[1]) : std::nullopt;
    if (!q || p->size() != q->size()) {
        return q ? refuse(c, a.range, "`math.dist` of points of different dimensions")
                 : Object::error();
    }
    for (size_t i = 0; i < p->size(); ++i) {
        (*p)[i] -= (*q)[i];
    }
    return Object::real(length_of(std::move(*p)));
}

// The sum that is rounded once: parts that do not overlap add up to it exactly.
Object math_fsum(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> values =
        known_items(c, a.positional[0], "math.fsum", a.range);
    if (!values) {
        return Object::error();
    }
    if (!are_finite(*values)) {
        return refuse(c, a.range, "`math.fsum` of infinities or NaN");
    }
    std::vector<double> parts;  // from small to large
    for (double x : *values) {
        size_t kept = 0;
        for (double y : parts) {
            bool is_larger = std::fabs(x) >= std::fabs(y);
            auto [high, low] = is_larger ? exact_sum_of(x, y) : exact_sum_of(y, x);
            if (low != 0) {
                parts[kept++] = low;
            }
            x = high;
        }
        parts.resize(kept);
        parts.push_back(x);
    }
    double sum = 0, low = 0;
    while (!parts.empty() && low == 0) {
        std::tie(sum, low) = exact_sum_of(sum, parts.back());
        parts.pop_back();
    }
    // Halfway between two floats, what is left says which one.
    if (low != 0 && !parts.empty() && (low < 0) == (parts.back() < 0)) {
        double twice = low * 2, next = sum + twice;
        sum = next - sum == twice ? next : sum;
    }
    return checked_result(c, a, sum, true);
}

Object math_isclose(Context& c, const Arguments& a) {
    double relative = 1e-9, absolute = 0;
    for (const KeywordArgument& keyword : a.keywords) {
        bool is_known = keyword.name == "rel_tol" || keyword.name == "abs_tol";
        if (!is_known || !keyword.value.is_number() || keyword.value.as_double() < 0) {
            return refuse(c, keyword.range, fmt::format("`math.isclose` with `{}`", keyword.name),
                          "give `rel_tol` and `abs_tol` numbers that are not negative");
        }
        (keyword.name == "rel_tol" ? relative : absolute) = keyword.value.as_double();
    }
    std::optional<std::vector<double>> both =
        known_floats(c, a.positional, "math.isclose", a.range);
    if (!both) {
        return Object::error();
    }
    double x = (*both)[0], y = (*both)[1], difference = std::fabs(y - x);
    bool is_near = difference <= std::fabs(relative * y) || difference <= std::fabs(relative * x) ||
                   difference <= absolute;
    return Object::boolean(x == y || (!std::isinf(x) && !std::isinf(y) && is_near));
}

Object math_remainder(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> both =
        known_floats(c, a.positional, "math.remainder", a.range);
    return both ? checked_result(c, a, std::remainder((*both)[0], (*both)[1]),
                                 !std::isnan((*both)[0]) && !std::isnan((*both)[1]))
                : Object::error();
}

Object math_nextafter(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> both =
        known_floats(c, a.positional, "math.nextafter", a.range);
    return both ? Object::real(std::nextafter((*both)[0], (*both)[1])) : Object::error();
}

Object math_ulp(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> values = known_floats(c, a.positional, "math.ulp", a.range);
    if (!values) {
        return Object::error();
    }
    double x = std::fabs((*values)[0]);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double above = std::nextafter(x, kInfinity);
    return Object::real(!std::isfinite(x)   ? x
                        : std::isinf(above) ? x - std::nextafter(x, 0.0)
                                            : above - x);
}

Object math_ldexp(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> values =
        known_floats(c, a.positional, "math.ldexp", a.range);
    if (!values || !a.positional[1].is_integer()) {
        return values ? refuse(c, a.ranges[1], "`math.ldexp` with an exponent that is no int")
                      : Object::error();
    }
    constexpr int64_t kMost = 5000;  // beyond it all is zero or infinite
    auto exponent = static_cast<int>(std::clamp(a.positional[1].as_int(), -kMost, kMost));
    return checked_result(c, a, std::ldexp((*values)[0], exponent), are_finite({(*values)[0]}));
}

Object math_frexp(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> values =
        known_floats(c, a.positional, "math.frexp", a.range);
    if (!values) {
        return Object::error();
    }
    int exponent = 0;
    bool is_finite = std::isfinite((*values)[0]);
    double fraction = is_finite ? std::frexp((*values)[0], &exponent) : (*values)[0];
    return Object::tuple({Object::real(fraction), Object::integer(exponent)});
}

Object math_modf(Context& c, const Arguments& a) {
    std::optional<std::vector<double>> values = known_floats(c, a.positional, "math.modf", a.range);
    if (!values) {
        return Object::error();
    }
    double whole = 0, fraction = std::modf((*values)[0], &whole);
    return Object::tuple({Object::real(fraction), Object::real(whole)});
}

namespace {

// Numbers that are known, of which there are some; nothing after a diagnostic.
std::optional<std::vector<Object>> known_numbers(Context& c, const Arguments& a,
                                                 std::string_view name) {
    std::optional<std::vector<Object>> items = static_items(c, a.positional[0]);
    if (!items || items->empty()) {
        refuse(c, a.range,
               fmt::format("`{}` of {}", name, items ? "no numbers" : kind_name(a.positional[0])),
               "give it a list of numbers; of a tensor, use `op.ReduceMean`");
        return std::nullopt;
    }
    std::optional<std::vector<double>> values = known_floats(c, *items, name, a.range);
    if (!values) {
        return std::nullopt;
    }
    bool is_plain = std::all_of(items->begin(), items->end(), [](const Object& one) {
        return one.is(ObjectKind::kInt) || one.is(ObjectKind::kFloat);
    });
    if (!is_plain || !are_finite(*values)) {
        refuse(c, a.range, fmt::format("`{}` of other than plain numbers", name),
               "give it ints and floats");
        return std::nullopt;
    }
    return items;
}

bool are_ints(const std::vector<Object>& items) {
    return std::all_of(items.begin(), items.end(),
                       [](const Object& one) { return one.is(ObjectKind::kInt); });
}

}  // namespace

// The exact mean, rounded once; of ints an int where it is whole.
Object statistics_mean(Context& c, const Arguments& a) {
    std::optional<std::vector<Object>> items = known_numbers(c, a, "statistics.mean");
    if (!items) {
        return Object::error();
    }
    constexpr int64_t kExact = int64_t{1} << 53;
    int64_t count = static_cast<int64_t>(items->size());
    if (are_ints(*items)) {
        int64_t total = 0;
        bool fits = std::none_of(items->begin(), items->end(), [&](const Object& one) {
            return !one.is_whole() || __builtin_add_overflow(total, one.as_int(), &total);
        });
        if (fits && total % count == 0) {
            return Object::integer(total / count);
        }
        if (fits && total > -kExact && total < kExact) {
            return Object::real(static_cast<double>(total) / static_cast<double>(count));
        }
        return refuse(c, a.range, "`statistics.mean` of ints this large", "use smaller ones");
    }
    std::vector<double> values = *known_floats(c, *items, "statistics.mean", a.range);
    std::optional<double> sum =
        exact_sum(Row<double>(values.data(), count, 1), precision_of(ElementType::kDouble));
    return sum ? Object::real(*sum / static_cast<double>(count))
               : refuse(c, a.range, "`statistics.mean` of floats whose sum is not exact",
                        "write the mean as a number");
}

Object statistics_median(Context& c, const Arguments& a) {
    std::optional<std::vector<Object>> items = known_numbers(c, a, "statistics.median");
    if (!items) {
        return Object::error();
    }
    std::stable_sort(items->begin(), items->end(), [](const Object& x, const Object& y) {
        return compare_numbers(x, y) == std::optional(-1);
    });
    size_t middle = items->size() / 2;
    if (items->size() % 2 != 0) {
        return (*items)[middle];
    }
    Arguments pair = a;
    pair.positional[0] = Object::list({(*items)[middle - 1], (*items)[middle]});
    Object mean = statistics_mean(c, pair);
    return mean.is(ObjectKind::kInt) ? Object::real(mean.as_double()) : mean;
}

}  // namespace sardonyx::elaborate
