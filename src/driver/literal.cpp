#include "driver/literal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "elaborate/elaborate.h"
#include "elaborate/module.h"

namespace sardonyx::driver {

using elaborate::Object;
using elaborate::ObjectKind;

namespace {

constexpr size_t kMaxText = size_t{16} << 20;
constexpr size_t kMaxRank = 64;

bool is_word(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789";
    for (char c : text) {
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && kDigits.find(c) == std::string_view::npos) {
            return false;
        }
    }
    return !text.empty() && kDigits.find(text[0]) == std::string_view::npos;
}

bool is_literal_name(std::string_view text) {
    return text == "True" || text == "False" || text == "None";
}

// The leaves of nested lists in row-major order, and the dims.
struct Leaves {
    Dims dims;
    std::vector<const Object*> items;
};

Result<void> collect(const Object& object, size_t depth, Leaves& leaves) {
    if (!object.is_sequence()) {
        if (depth != leaves.dims.size()) {
            return Error{"numbers and lists are mixed at one depth"};
        }
        leaves.items.push_back(&object);
        return {};
    }
    int64_t size = static_cast<int64_t>(object.items().size());
    if (depth >= leaves.dims.size() || leaves.dims[depth] != size) {
        return Error{"the lists at one depth have different lengths"};
    }
    for (const Object& item : object.items()) {
        SDX_TRY(collect(item, depth + 1, leaves));
    }
    return {};
}

// The least type that holds all leaves, as NumPy would choose among ONNX Script's defaults.
Result<ElementType> implied_type(const Leaves& leaves) {
    ElementType type = leaves.items.empty() ? ElementType::kInt64 : ElementType::kUndefined;
    for (const Object* item : leaves.items) {
        ElementType one = item->is(ObjectKind::kBool)     ? ElementType::kBool
                          : item->is(ObjectKind::kInt)    ? ElementType::kInt64
                          : item->is(ObjectKind::kFloat)  ? ElementType::kFloat
                          : item->is(ObjectKind::kString) ? ElementType::kString
                                                          : ElementType::kUndefined;
        if (one == ElementType::kUndefined) {
            return Error{
                fmt::format("{} is not an element of a tensor", elaborate::kind_name(*item))};
        }
        bool are_numbers = (one == ElementType::kInt64 || one == ElementType::kFloat) &&
                           (type == ElementType::kInt64 || type == ElementType::kFloat);
        if (type != ElementType::kUndefined && type != one && !are_numbers) {
            return Error{"the elements have different types"};
        }
        type = are_numbers && type != one ? ElementType::kFloat : one;
    }
    return type;
}

Result<Tensor> fill(const Leaves& leaves, ElementType implied, ElementType type) {
    if ((implied == ElementType::kString) != (type == ElementType::kString)) {
        return Error{fmt::format("the elements are {}, not {}", name(implied), name(type))};
    }
    if (type == ElementType::kString) {
        std::vector<std::string> strings;
        for (const Object* item : leaves.items) {
            strings.push_back(item->text());
        }
        return Tensor::of_strings(leaves.dims, std::move(strings));
    }
    if (implied == ElementType::kFloat) {
        std::vector<double> values;
        for (const Object* item : leaves.items) {
            values.push_back(item->as_double());
        }
        return tensor_from_doubles(type, leaves.dims, values);
    }
    std::vector<int64_t> values;
    for (const Object* item : leaves.items) {
        values.push_back(item->as_int());
    }
    return tensor_from_int64s(type, leaves.dims, values);
}

}  // namespace

namespace {

// What texts of numbers may say beside Python's literals, and what it is in Python.
struct NumberWord {
    std::string_view word;
    std::string_view value;
};
constexpr NumberWord kNumberWords[] = {
    {"nan", "float('nan')"}, {"NaN", "float('nan')"},      {"inf", "float('inf')"},
    {"true", "True"},        {"Infinity", "float('inf')"}, {"false", "False"},
    {"null", "None"},
};

std::string number_words() {
    std::string text;
    for (const NumberWord& row : kNumberWords) {
        text += fmt::format("{} = {}\n", row.word, row.value);
    }
    return text;
}

// `before` is run first.
Result<Object> evaluate(const std::string& before, const std::string& text) {
    // An assignment in a file of its own: the compiler's own evaluation of constants.
    elaborate::Program program(nullptr);
    elaborate::FileModule* module =
        elaborate::load_text(program, "<value>", before + "value = " + text + "\n");
    std::optional<Object> value =
        program.diagnostics.has_errors() ? std::nullopt : module->lookup("value");
    if (program.diagnostics.has_errors()) {
        return Error{fmt::format("{} is not a Python literal: {}", sardonyx::quoted(text),
                                 program.diagnostics.items()[0].message)};
    }
    bool is_plain = value && (value->is(ObjectKind::kDict) || value->is_number() ||
                              value->is(ObjectKind::kString) || value->is_none() ||
                              value->is_sequence() || value->is(ObjectKind::kConstant));
    if (!is_plain) {
        return Error{
            fmt::format("{} is not a number, a string or a list of them", sardonyx::quoted(text))};
    }
    return *value;
}

constexpr std::string_view kTooLong = "the value is too long; put it into a .npy file";

}  // namespace

Result<Object> read_literal(const std::string& text) {
    if (text.size() > kMaxText) {
        return Error{std::string(kTooLong)};
    }
    if (is_word(text) && !is_literal_name(text)) {
        return Object::string(text);
    }
    Result<Object> value = evaluate({}, text);
    if (value.ok() && value->is(ObjectKind::kDict)) {
        return Error{
            fmt::format("{} is not a number, a string or a list of them", sardonyx::quoted(text))};
    }
    return value;
}

Result<Object> read_numbers(const std::string& text) {
    if (text.size() > kMaxText) {
        return Error{std::string(kTooLong)};
    }
    bool is_number_word = std::any_of(std::begin(kNumberWords), std::end(kNumberWords),
                                      [&text](const NumberWord& row) { return row.word == text; });
    if (is_word(text) && !is_number_word) {
        return read_literal(text);
    }
    static const std::string& words = *new std::string(number_words());
    return evaluate(words, text);
}

Result<Tensor> to_tensor(const Object& literal, ElementType type) {
    if (literal.is(ObjectKind::kConstant)) {
        return literal.get<Tensor>();
    }
    Leaves leaves;
    for (const Object* at = &literal; at->is_sequence() && leaves.dims.size() < kMaxRank;
         at = &at->items()[0]) {
        leaves.dims.push_back(static_cast<int64_t>(at->items().size()));
        if (at->items().empty()) {
            break;
        }
    }
    SDX_TRY(collect(literal, 0, leaves));
    Result<ElementType> implied = implied_type(leaves);
    SDX_TRY(implied);
    bool is_empty = leaves.items.empty() && type == ElementType::kString;
    return fill(leaves, is_empty ? ElementType::kString : *implied,
                type == ElementType::kUndefined ? *implied : type);
}

}  // namespace sardonyx::driver
