#include "torch/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/utf8.h"

namespace sardonyx::torch {
namespace {

// What the text uses itself.
constexpr std::string_view kTaken[] = {
    "w",   "op",    "aten", "math", "script", "load_weights", "print",       "len",  "max",  "min",
    "int", "float", "abs",  "bool", "round",  "range",        "reveal_type", "list", "tuple"};
constexpr std::string_view kElementTypes[] = {
    "FLOAT",  "DOUBLE",       "FLOAT16",    "BFLOAT16",       "BOOL",          "UINT8",
    "UINT16", "UINT32",       "UINT64",     "INT8",           "INT16",         "INT32",
    "INT64",  "FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ"};
constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_digit_of_name(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

bool is_keyword(std::string_view text) {
    return holds(kKeywords, text);
}

bool is_free_name(std::string_view text) {
    return !text.empty() && !is_digit_of_name(text[0]) &&
           std::all_of(text.begin(), text.end(), is_letter_or_digit) && !holds(kTaken, text) &&
           !holds(kElementTypes, text) && !is_keyword(text);
}

std::string python_string(std::string_view text, char quote) {
    std::string result(1, quote);
    auto is_plain = [quote](char c) { return c >= 0x20 && c < 0x7F && c != quote && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), is_plain)) {
        result.reserve(text.size() + 2);
        result += text;
        result += quote;
        return result;
    }
    for (size_t i = 0; i < text.size();) {
        size_t length = utf8_sequence_length(text.substr(i));
        char c = text[i];
        auto byte = static_cast<unsigned char>(c);
        if (length == 1 && (c == quote || c == '\\')) {
            result += '\\';
            result += c;
        } else if (c == '\n') {
            result += "\\n";
        } else if (length == 0 || byte < 0x20 || byte == 0x7F) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += text.substr(i, length);
        }
        i += std::max<size_t>(length, 1);
    }
    return result + quote;
}

Names::Names(const Program& program, const std::set<std::string>& modules)
    : used_(modules.begin(), modules.end()) {
    for (std::string_view name : kTaken) {
        used_.emplace(name);
    }
    for (const Weight& one : program.weights) {
        given_[one.name] = fmt::format("w[{}]", python_string(one.key, '"'));
    }
    auto give = [this](const std::string& name, std::string_view wanted) {
        if (given_.count(name) == 0) {
            given_[name] = plain(wanted);
        }
    };
    for (const Input& one : program.inputs) {
        auto wanted = program.input_names.find(one.name);
        give(one.name, wanted != program.input_names.end() ? wanted->second : one.name);
    }
    for (const Program& body : program.bodies) {
        give(body.name, body.name);
    }
    std::unordered_set<std::string_view> made;
    for (const Node& node : program.nodes) {
        made.insert(node.name);
    }
    for (size_t i = 0; i < std::min(program.outputs.size(), program.output_names.size()); ++i) {
        const Value& value = program.outputs[i];
        if (!program.output_names[i].empty() && value.is_ref() && made.count(value.text) != 0) {
            give(value.text, program.output_names[i]);
        }
    }
    for (const Node& node : program.nodes) {
        give(node.name, node.name);
    }
}

std::string Names::plain(std::string_view text) {
    std::string plain;
    for (size_t i = 0; i < text.size();) {
        size_t length = std::max<size_t>(utf8_sequence_length(text.substr(i)), 1);
        plain += is_letter_or_digit(text[i]) ? text[i] : '_';
        i += length;
    }
    if (plain.empty() || is_digit_of_name(plain[0])) {
        plain.insert(plain.begin(), '_');
    }
    while (used_.count(plain) != 0 || !is_free_name(plain)) {
        plain += '_';
    }
    used_.insert(plain);
    return plain;
}

const std::string& Names::operator()(std::string_view value) const {
    auto found = given_.find(std::string(value));
    SDX_CHECK(found != given_.end());
    return found->second;
}

std::string_view last_part(std::string_view path) {
    size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::string_view packet_of_path(std::string_view path) {
    return last_part(path.substr(0, std::min(path.rfind('.'), path.size())));
}

bool is_argument_name(std::string_view text) {
    return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_';
           });
}

}  // namespace sardonyx::torch
