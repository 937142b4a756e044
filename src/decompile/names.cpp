#include "decompile/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "syntax/builtin_names.h"
#include "types/element_type.h"

namespace sardonyx::decompile {
namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

constexpr std::string_view kWords[] = {
#define SDX_KEYWORD(identifier, text) text,
#include "syntax/tokens.def"
};

// Names that mean something in a script, beside the builtins: by the imports of the text.
constexpr std::string_view kMeanings[] = {
    "Mapping", "OPTIONAL",     "Opset",       "SPARSE",   "Sequence", "TensorProto", "case",
    "graph",   "load_weights", "make_tensor", "match",    "math",     "np",          "numpy",
    "onnx",    "op",           "reveal_type", "sardonyx", "script",   "weights",
};

// The builtins that decompiled scripts use.
constexpr std::string_view kUsedBuiltins[] = {
    "bool", "float", "int", "list", "range", "str", "tuple",
};

bool has_meaning(std::string_view name) {
    return element_type_from_name(name) != ElementType::kUndefined || name.starts_with("opset") ||
           std::binary_search(std::begin(kUsedBuiltins), std::end(kUsedBuiltins), name) ||
           std::binary_search(std::begin(kMeanings), std::end(kMeanings), name) ||
           std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

// The last parts of a path such as `/layers.0/attention/MatMul_output_0` that are short enough.
std::string_view tail(std::string_view hint, size_t most_letters) {
    if (hint.size() <= most_letters) {
        return hint;
    }
    for (size_t i = hint.size() - most_letters; i < hint.size(); ++i) {
        if (i > 0 && !is_letter(hint[i - 1]) && !is_digit(hint[i - 1]) && is_letter(hint[i])) {
            return hint.substr(i);
        }
    }
    return hint.substr(hint.size() - most_letters);
}

// Letters, digits and single underscores, not at the ends; ASCII, because Python takes many other
// names for one.
std::string cleaned(std::string_view hint, std::string_view fallback, size_t most_letters) {
    std::string name;
    for (char c : tail(hint, most_letters)) {
        bool is_kept = is_letter(c) || is_digit(c) || c == '_';
        if (is_kept) {
            name += c;
        } else if (!name.empty() && name.back() != '_') {
            name += '_';
        }
    }
    name.erase(0, name.find_first_not_of('_') == std::string::npos ? name.size()
                                                                   : name.find_first_not_of('_'));
    while (!name.empty() && name.back() == '_') {
        name.pop_back();
    }
    if (name.empty()) {
        return std::string(fallback);
    }
    return is_digit(name[0]) ? fmt::format("{}_{}", fallback, name) : name;
}

}  // namespace

bool is_identifier(std::string_view text) {
    constexpr size_t kMost = 200;
    bool is_word = !text.empty() && text.size() <= kMost && !is_digit(text[0]) &&
                   std::all_of(text.begin(), text.end(),
                               [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
    return is_word && std::find(std::begin(kWords), std::end(kWords), text) == std::end(kWords);
}

bool Names::is_free(const std::string& name) const {
    return !taken_.contains(name) && (outer_ == nullptr || outer_->is_free(name));
}

std::string Names::fresh(std::string_view hint, std::string_view fallback, size_t most_letters) {
    std::string base = cleaned(hint, fallback, most_letters);
    std::string name = base;
    if (has_meaning(name) || syntax::is_builtin_name(name) || !is_free(name)) {
        int& count = counts_[base];
        do {
            name = fmt::format("{}_{}", base, ++count);
        } while (!is_free(name));
    }
    taken_.insert(name);
    return name;
}

std::string Names::kept(std::string_view hint, std::string_view fallback) {
    std::string name(hint);
    if (!is_identifier(name) || has_meaning(name) || !is_free(name)) {
        return fresh(hint, fallback);
    }
    taken_.insert(name);
    return name;
}

}  // namespace sardonyx::decompile
