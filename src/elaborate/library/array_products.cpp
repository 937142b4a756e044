#include "elaborate/library/array_products.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_reductions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/array_tables.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/array_sums.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using lowering::Binary;

namespace {

// Two arrays in their common type; nothing: they are no arrays, or more than these.
std::optional<std::pair<Tensor, Tensor>> common_pair(const Arguments& a, size_t first) {
    const Tensor *x = known_array(&a.positional[first]), *y = known_array(&a.positional[first + 1]);
    if (x == nullptr || y == nullptr) {
        return std::nullopt;
    }
    ElementType type = promoted(x->element_type(), y->element_type());
    std::optional<Tensor> left = cast_array(*x, type), right = cast_array(*y, type);
    return left && right ? std::optional(std::pair{*left, *right}) : std::nullopt;
}

Object refuse_order(Context& c, const Arguments& a, std::string_view name) {
    return refuse(c, a.range,
                  "`np." + std::string(name) +
                      "` of these floats, which depends on the order in which NumPy adds",
                  "write the numbers, or use an operator such as `op.MatMul` in the script");
}

}  // namespace

Object np_matmul(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    std::optional<Object> made =
        a && a->keywords.empty() ? array_product(c, a->positional[0], a->positional[1], given.range)
                                 : std::nullopt;
    return !a ? Object::error() : made ? *made : refuse_array(c, given, "matmul");
}

// The product of matrices; of more dims it is another one than `@`.
Object np_dot(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    if (!a) {
        return Object::error();
    }
    const Tensor *x = known_array(&a->positional[0]), *y = known_array(&a->positional[1]);
    if (x == nullptr || y == nullptr || !a->keywords.empty() || y->rank() > 2 ||
        (x->rank() > 2 && y->rank() > 1)) {
        return refuse_array(c, given, "dot");
    }
    if (x->rank() == 0 || y->rank() == 0) {
        std::optional<Object> made =
            array_binary(c, Binary::kMul, a->positional[0], a->positional[1], given.range);
        return made ? as_numpys_number(*made) : refuse_array(c, given, "dot");
    }
    return np_matmul(c, *a);
}

Object np_outer(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    if (!a) {
        return Object::error();
    }
    const Tensor *x = known_array(&a->positional[0]), *y = known_array(&a->positional[1]);
    if (x == nullptr || y == nullptr || !a->keywords.empty()) {
        return refuse_array(c, given, "outer");
    }
    std::optional<Object> result =
        array_binary(c, Binary::kMul, constant_of(x->reshaped({x->count(), 1})),
                     constant_of(y->reshaped({1, y->count()})), given.range);
    return result ? *result : refuse_array(c, given, "outer");
}

// Each element of the first array times the second array, as blocks.
Object np_kron(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    if (!a) {
        return Object::error();
    }
    const Tensor *x = known_array(&a->positional[0]), *y = known_array(&a->positional[1]);
    if (x == nullptr || y == nullptr || !a->keywords.empty()) {
        return refuse_array(c, given, "kron");
    }
    size_t rank = std::max(x->dims().size(), y->dims().size());
    Dims left, right, dims;
    for (size_t i = 0; i < rank; ++i) {
        auto dim = [&](const Tensor& array) {
            size_t missing = rank - array.dims().size();
            return i < missing ? int64_t{1} : array.dims()[i - missing];
        };
        left.insert(left.end(), {dim(*x), 1});
        right.insert(right.end(), {1, dim(*y)});
        dims.push_back(dim(*x) * dim(*y));
    }
    std::optional<Object> blocks =
        array_binary(c, Binary::kMul, constant_of(x->reshaped(std::move(left))),
                     constant_of(y->reshaped(std::move(right))), given.range);
    return !blocks ? refuse_array(c, given, "kron")
           : blocks->is_error()
               ? *blocks
               : as_numpys_number(constant_of(blocks->get<Tensor>().reshaped(std::move(dims))));
}

Object np_trace(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    if (array == nullptr || array->rank() != 2 || a.positional.size() != 1 || !a.keywords.empty()) {
        return refuse_array(c, a, "trace");
    }
    Arguments diagonal = a;
    diagonal.positional[0] = np_diag(c, a);
    return diagonal.positional[0].is_error() ? Object::error() : np_sum(c, diagonal);
}

namespace {

// The sum of the products of two rows, in the type; nothing: it is not certain.
std::optional<double> dot_of(const std::vector<double>& x, const std::vector<double>& y,
                             ElementType type) {
    int64_t size = static_cast<int64_t>(x.size());
    return certain_dot(Row<double>(x.data(), size, 1), Row<double>(y.data(), size, 1), type);
}

// The same of integers, modulo 2^64.
int64_t integer_dot(const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
    uint64_t sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        sum += static_cast<uint64_t>(x[i]) * static_cast<uint64_t>(y[i]);
    }
    return static_cast<int64_t>(sum);
}

// An array of sums of products: `pairs(i)` are the places of the factors of element i. A sum of one
// product is rounded once. Nothing: a sum is not certain.
template <typename Pairs>
std::optional<Tensor> sums_of_products(const Tensor& x, const Tensor& y, Dims dims, bool has_sums,
                                       Pairs pairs) {
    ElementType type = x.element_type();
    bool is_float = is_floating(type);
    ElementType wide = is_float ? ElementType::kDouble : ElementType::kInt64;
    std::optional<Tensor> left = cast_array(x, wide), right = cast_array(y, wide);
    Tensor made = Tensor::uninitialized(wide, std::move(dims));
    auto factors = [&]<typename T>(size_t i) {
        std::pair<std::vector<T>, std::vector<T>> chosen;
        for (const auto& [first, second] : pairs(i)) {
            chosen.first.push_back(std::as_const(*left).template elements<T>()[first]);
            chosen.second.push_back(std::as_const(*right).template elements<T>()[second]);
        }
        return chosen;
    };
    for (size_t i = 0; left && right && i < static_cast<size_t>(made.count()); ++i) {
        if (!is_float) {
            auto [first, second] = factors.template operator()<int64_t>(i);
            made.mutable_elements<int64_t>()[i] = integer_dot(first, second);
            continue;
        }
        auto [first, second] = factors.template operator()<double>(i);
        std::optional<double> sum =
            has_sums ? dot_of(first, second, type) : std::optional(first[0] * second[0]);
        if (!sum) {
            return std::nullopt;
        }
        made.mutable_elements<double>()[i] = *sum;
    }
    return left && right ? cast_array(made, type) : std::nullopt;
}

}  // namespace

// np.cross(x, y) of vectors with three elements, along the last axis.
Object np_cross(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    if (!a) {
        return Object::error();
    }
    const Tensor *x = known_array(&a->positional[0]), *y = known_array(&a->positional[1]);
    auto has_three = [](const Tensor* one) {
        return one != nullptr && one->rank() > 0 && one->dims().back() == 3;
    };
    if (!has_three(x) || !has_three(y) || !a->keywords.empty()) {
        return refuse_array(c, given, "cross");
    }
    // The element `by` places on of each vector.
    auto turned = [](const Tensor& array, int64_t by) {
        std::vector<int64_t> strides = strides_of(array.dims());
        return constant_of(*rearranged(array, array.dims(), [&](const auto& index) {
            int64_t place = (index.back() + by) % 3;
            for (size_t i = 0; i + 1 < index.size(); ++i) {
                place += index[i] * strides[i];
            }
            return place;
        }));
    };
    auto times = [&](int64_t left, int64_t right) {
        return array_binary(c, Binary::kMul, turned(*x, left), turned(*y, right), given.range);
    };
    std::optional<Object> first = times(1, 2), second = times(2, 1);
    std::optional<Object> made = first && second
                                     ? array_binary(c, Binary::kSub, *first, *second, given.range)
                                     : std::nullopt;
    return made ? *made : refuse_array(c, given, "cross");
}

// np.polyval(coefficients, x), as NumPy computes it: from zero of the type of x.
Object np_polyval(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    const Tensor* coefficients = a ? known_array(&a->positional[0]) : nullptr;
    const Tensor* x = a ? known_array(&a->positional[1]) : nullptr;
    if (coefficients == nullptr || x == nullptr || coefficients->rank() != 1 ||
        coefficients->count() == 0) {
        return a ? refuse_array(c, given, "polyval") : Object::error();
    }
    Object sum = constant_of(Tensor::zeros(x->element_type(), x->dims()));
    for (int64_t i = 0; i < coefficients->count(); ++i) {
        Object one = constant_of(part_along(*coefficients, 0, i, 1)->reshaped({}));
        std::optional<Object> product =
            array_binary(c, Binary::kMul, as_array_scalar(sum), a->positional[1], given.range);
        std::optional<Object> next =
            product && !product->is_error()
                ? array_binary(c, Binary::kAdd, as_array_scalar(*product), one, given.range)
                : product;
        if (!next || next->is_error()) {
            return next ? *next : refuse_array(c, given, "polyval");
        }
        sum = *next;
    }
    return as_numpys_number(sum);
}

// np.convolve(x, y, mode="full")
Object np_convolve(Context& c, const Arguments& given) {
    constexpr int64_t kMost = 4096;
    std::optional<Arguments> a = with_arrays(c, given, 2);
    if (!a) {
        return Object::error();
    }
    const Object* kind = argument_of(given, 2, "mode");
    std::string mode = kind == nullptr ? "full" : kind->is(ObjectKind::kString) ? kind->text() : "";
    std::optional<std::pair<Tensor, Tensor>> both = common_pair(*a, 0);
    bool is_known = both && both->first.rank() == 1 && both->second.rank() == 1 &&
                    both->first.count() > 0 && both->second.count() > 0 &&
                    both->first.count() <= kMost && both->second.count() <= kMost &&
                    !has_other_keywords(given, {"mode"}) &&
                    (mode == "full" || mode == "same" || mode == "valid");
    if (!is_known) {
        return refuse_array(c, given, "convolve");
    }
    int64_t n = both->first.count(), m = both->second.count(), least = std::min(n, m);
    int64_t skipped = mode == "full" ? 0 : mode == "same" ? (least - 1) / 2 : least - 1;
    int64_t count = mode == "full"   ? n + m - 1
                    : mode == "same" ? std::max(n, m)
                                     : std::max(n, m) - least + 1;
    std::optional<Tensor> made =
        sums_of_products(both->first, both->second, {count}, true, [&](size_t i) {
            int64_t place = static_cast<int64_t>(i) + skipped;
            std::vector<std::pair<size_t, size_t>> pairs;
            for (int64_t k = std::max<int64_t>(0, place - m + 1); k <= std::min(place, n - 1);
                 ++k) {
                pairs.emplace_back(static_cast<size_t>(k), static_cast<size_t>(place - k));
            }
            return pairs;
        });
    return made ? constant_of(std::move(*made)) : refuse_order(c, given, "convolve");
}

// --- np.einsum -----------------------------------------------------------------------------------

namespace {

// "ij,jk->ik": the letters of each operand and of the result.
struct Subscripts {
    std::vector<std::string> operands;
    std::string result;
};

std::optional<Subscripts> read_subscripts(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    Subscripts read{{""}, ""};
    std::map<char, int> counts;
    for (char one : left) {
        if (one == ',') {
            read.operands.emplace_back();
        } else if (std::isalpha(static_cast<unsigned char>(one)) != 0) {
            read.operands.back() += one;
            ++counts[one];
        } else {
            return std::nullopt;
        }
    }
    if (arrow != std::string::npos) {
        read.result = text.substr(arrow + 2);
    } else {  // the letters that stand once, in the order of the alphabet
        for (const auto& [letter, count] : counts) {
            read.result += count == 1 ? std::string(1, letter) : "";
        }
    }
    for (size_t i = 0; i < read.result.size(); ++i) {
        char one = read.result[i];
        if (counts.count(one) == 0 || read.result.find(one, i + 1) != std::string::npos) {
            return std::nullopt;
        }
    }
    return read;
}

// A letter, how long its axis is, and how far its neighbours lie apart in each operand.
struct Letter {
    char name;
    int64_t size = 1;
    int64_t steps[2] = {0, 0};
};

// The letters of the result, then those that are summed over. Nothing: sizes differ.
std::optional<std::vector<Letter>> letters_of(const Subscripts& subscripts,
                                              const std::vector<Tensor>& operands) {
    std::vector<Letter> letters;
    for (char one : subscripts.result) {
        letters.push_back({one});
    }
    std::vector<bool> is_seen(letters.size(), false);
    for (size_t i = 0; i < operands.size(); ++i) {
        const std::string& names = subscripts.operands[i];
        if (names.size() != operands[i].dims().size()) {
            return std::nullopt;
        }
        std::vector<int64_t> strides = strides_of(operands[i].dims());
        for (size_t axis = 0; axis < names.size(); ++axis) {
            auto found = std::find_if(letters.begin(), letters.end(),
                                      [&](const Letter& one) { return one.name == names[axis]; });
            size_t place = static_cast<size_t>(found - letters.begin());
            if (found == letters.end()) {
                letters.push_back({names[axis]});
                is_seen.push_back(false);
            }
            Letter& letter = letters[place];
            int64_t size = operands[i].dims()[axis];
            if (is_seen[place] && letter.size != size) {
                return std::nullopt;
            }
            is_seen[place] = true;
            letter.size = size;
            letter.steps[i] += strides[axis];
        }
    }
    return letters;
}

// The places of the factors of each product where some of the letters run through their axes.
std::vector<std::pair<size_t, size_t>> places_of(std::span<const Letter> letters,
                                                 std::pair<size_t, size_t> start) {
    std::vector<std::pair<size_t, size_t>> places{start};
    for (const Letter& letter : letters) {
        std::vector<std::pair<size_t, size_t>> next;
        for (const auto& [first, second] : places) {
            for (int64_t i = 0; i < letter.size; ++i) {
                next.emplace_back(first + static_cast<size_t>(i * letter.steps[0]),
                                  second + static_cast<size_t>(i * letter.steps[1]));
            }
        }
        places = std::move(next);
    }
    return places;
}

}  // namespace

// np.einsum(subscripts, x) and (subscripts, x, y)
Object np_einsum(Context& c, const Arguments& given) {
    constexpr int64_t kMostProducts = int64_t{1} << 22;
    std::optional<Subscripts> subscripts = given.positional[0].is(ObjectKind::kString)
                                               ? read_subscripts(given.positional[0].text())
                                               : std::nullopt;
    size_t count = given.positional.size() - 1;
    if (!subscripts || subscripts->operands.size() != count || !given.keywords.empty()) {
        return refuse_array(c, given, "einsum");
    }
    Arguments arrays = given;
    arrays.positional.erase(arrays.positional.begin());
    arrays.ranges.erase(arrays.ranges.begin());
    arrays.positional.resize(2, Object::boolean(true));
    arrays.ranges.resize(2, given.range);
    std::optional<Arguments> a = with_arrays(c, arrays, 2);
    std::optional<std::pair<Tensor, Tensor>> both = a ? common_pair(*a, 0) : std::nullopt;
    std::vector<Tensor> operands;
    if (both) {
        operands = count == 1 ? std::vector<Tensor>{both->first}
                              : std::vector<Tensor>{both->first, both->second};
    }
    std::optional<std::vector<Letter>> letters =
        both ? letters_of(*subscripts, operands) : std::nullopt;
    Dims dims;
    int64_t work = 1;
    for (size_t i = 0; letters && i < letters->size(); ++i) {
        if (i < subscripts->result.size()) {
            dims.push_back((*letters)[i].size);
        }
        work = work > kMostProducts ? work : work * std::max<int64_t>((*letters)[i].size, 1);
    }
    if (!letters || work > kMostProducts || both->first.element_type() == ElementType::kBool) {
        return a ? refuse_array(c, given, "einsum") : Object::error();
    }
    std::span<const Letter> all(*letters);
    std::span<const Letter> summed = all.subspan(dims.size());
    std::vector<std::pair<size_t, size_t>> starts = places_of(all.first(dims.size()), {0, 0});
    std::optional<Tensor> made =
        sums_of_products(both->first, both->second, dims, !summed.empty(),
                         [&](size_t i) { return places_of(summed, starts[i]); });
    note_other_order(c);
    if (!made) {
        return refuse_order(c, given, "einsum");
    }
    bool is_view = count == 1 && summed.empty();
    return is_view ? array_view(c, a->positional[0], std::move(*made))
                   : as_numpys_number(constant_of(std::move(*made)));
}

}  // namespace sardonyx::elaborate
