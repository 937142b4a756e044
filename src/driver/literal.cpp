#include "driver/literal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "elaborate/elaborate.h"
#include "elaborate/files/module.h"
#include "lowering/literal.h"

namespace sardonyx::driver {

using elaborate::Object;
using elaborate::ObjectKind;

namespace {

constexpr size_t kMaxText = size_t{16} << 20;

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

// The values of Python that make up a literal, for lowering/literal.h.
struct LiteralReader {
    bool is_list(const Object& object) const { return object.is_sequence(); }
    int64_t size(const Object& object) const { return static_cast<int64_t>(object.items().size()); }
    template <typename Visit>
    void each(const Object& object, const Visit& visit) const {
        for (const Object& item : object.items()) {
            if (!visit(item)) {
                return;
            }
        }
    }
    bool add(const Object& leaf, lowering::Literal& literal) {
        if (leaf.is(ObjectKind::kBool)) {
            literal.add_bool(leaf.as_bool());
        } else if (leaf.is_whole()) {
            literal.add_int(leaf.as_whole());
        } else if (leaf.is(ObjectKind::kFloat)) {
            literal.add_float(leaf.as_double());
        } else if (leaf.is(ObjectKind::kString) || leaf.is(ObjectKind::kBytes)) {
            literal.add_text(leaf.text());
        } else {
            other = &leaf;
            return false;
        }
        return true;
    }
    const Object* other = nullptr;  // no element of a tensor
};

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
    LiteralReader reader;
    lowering::LiteralProblem problem;
    std::optional<lowering::Literal> read = lowering::read_literal(literal, reader, problem);
    if (reader.other != nullptr) {
        return Error{
            fmt::format("{} is not an element of a tensor", elaborate::kind_name(*reader.other))};
    }
    std::optional<Tensor> tensor = read ? read->tensor(
                                              type, [&literal] { return repr(literal); }, problem)
                                        : std::nullopt;
    if (!tensor) {
        return Error{problem.text()};
    }
    return std::move(*tensor);
}

}  // namespace sardonyx::driver
