// The entries, and what is checked of a file as a whole.
#include "syntax/parse.h"

#include <algorithm>

#include "syntax/parser.h"
#include "syntax/utf8.h"

namespace sardonyx::syntax {
namespace {

bool too_large(const Tree& tree, std::string_view text, diagnostics::Diagnostics& diagnostics,
               const Limits& limits) {
    if (text.size() <= limits.bytes) {
        return false;
    }
    diagnostics
        .report(kSourceTooLarge, tree.span({0, 0}),
                "the file has " + std::to_string(text.size()) + " bytes, which is more than " +
                    std::to_string(limits.bytes))
        .with_help("split it into several files");
    return true;
}

// The name in a coding comment of the first two lines, or empty. Python reference 2.1.4.
Range find_encoding(std::string_view text) {
    size_t begin = 0;
    for (int line = 0; line < 2 && begin < text.size(); ++line) {
        size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
        std::string_view words = text.substr(begin, end - begin);
        size_t first = words.find_first_not_of(" \t\f");
        size_t coding = words.find("coding");
        if (first != std::string_view::npos && words[first] != '#') {
            return {};
        }
        if (first != std::string_view::npos && coding != std::string_view::npos &&
            coding + 6 < words.size() && (words[coding + 6] == ':' || words[coding + 6] == '=')) {
            size_t name = std::min(words.find_first_not_of(" \t", coding + 7), words.size());
            size_t name_end = name;
            while (name_end < words.size() && words[name_end] != ' ' && words[name_end] != ';' &&
                   words[name_end] != '\t') {
                ++name_end;
            }
            return {static_cast<uint32_t>(begin + name), static_cast<uint32_t>(begin + name_end)};
        }
        begin = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
    }
    return {};
}

bool is_utf8_name(std::string_view name) {
    std::string lower;
    for (char c : name) {
        lower += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    }
    return lower.empty() || lower == "utf-8" || lower == "utf8" || lower == "utf-8-sig";
}

// UTF-16, which some shells and editors of Windows write, has a mark of its own; none of it is
// understood.
bool is_utf16(const Tree& tree, std::string_view text, diagnostics::Diagnostics& diagnostics) {
    if (!text.starts_with("\xFF\xFE") && !text.starts_with("\xFE\xFF")) {
        return false;
    }
    diagnostics.report(kNotUtf8, tree.span({0, 2}), "the file is UTF-16")
        .with_help("save the file as UTF-8");
    return true;
}

// Whatever the encoding, tokens are read as if it were UTF-8: only text within strings can suffer.
void check_encoding(const Tree& tree, std::string_view text,
                    diagnostics::Diagnostics& diagnostics) {
    size_t invalid = find_invalid_utf8(text);
    if (invalid == std::string_view::npos) {
        return;
    }
    Range encoding = find_encoding(text);
    std::string name(text.substr(encoding.begin, encoding.end - encoding.begin));
    uint32_t at = static_cast<uint32_t>(invalid);
    if (is_utf8_name(name)) {
        diagnostics.report(kNotUtf8, tree.span({at, at + 1}), "this byte is not UTF-8")
            .with_help("save the file as UTF-8");
        return;
    }
    diagnostics.report(kSourceEncoding, tree.span(encoding), "only UTF-8 is understood")
        .label(tree.span({at, at + 1}), "this byte is not UTF-8")
        .with_help("save the file as UTF-8 and remove this comment");
}

}  // namespace

Tree parse(const diagnostics::Sources& sources, diagnostics::FileId file,
           diagnostics::Diagnostics& diagnostics, const Limits& limits) {
    Tree tree;
    tree.file = file;
    std::string_view text = sources.text(file);
    size_t errors = diagnostics.error_count();
    if (too_large(tree, text, diagnostics, limits) || is_utf16(tree, text, diagnostics)) {
        tree.has_errors = true;
        return tree;
    }
    check_encoding(tree, text, diagnostics);
    Parser parser(tree, text, skip_byte_order_mark(text), OutermostBlock::kAtMargin, diagnostics,
                  limits);
    tree.body = parser.file_input();
    tree.directives = parser.directives();
    tree.has_errors = diagnostics.error_count() != errors;
    return tree;
}

Tree parse_statement(const diagnostics::Sources& sources, diagnostics::FileId file, uint32_t begin,
                     diagnostics::Diagnostics& diagnostics, const Limits& limits) {
    Tree tree;
    tree.file = file;
    std::string_view text = sources.text(file);
    if (too_large(tree, text, diagnostics, limits) || begin > text.size()) {
        return tree;
    }
    begin = begin == 0 ? skip_byte_order_mark(text) : begin;
    Parser parser(tree, text, begin, OutermostBlock::kIndented, diagnostics, limits);
    tree.body = parser.one_statement();
    return tree;
}

const Stmt* add_statement(Tree& tree, const diagnostics::Sources& sources, uint32_t begin,
                          diagnostics::Diagnostics& diagnostics, const Limits& limits) {
    std::string_view text = sources.text(tree.file);
    if (too_large(tree, text, diagnostics, limits) || begin > text.size()) {
        return nullptr;
    }
    Parser parser(tree, text, begin, OutermostBlock::kAtMargin, diagnostics, limits);
    Stmts found = parser.one_statement();
    return found.empty() ? nullptr : found.front();
}

const Expr* parse_annotation(Tree& tree, std::string_view text, Range at,
                             diagnostics::Diagnostics& diagnostics, const Limits& limits) {
    // The lexer wants a NUL behind the text.
    char* copied = static_cast<char*>(tree.arena.allocate(text.size() + 1, 1));
    text.copy(copied, text.size());
    copied[text.size()] = '\0';
    Parser parser(tree, {copied, text.size()}, 0, OutermostBlock::kAtMargin, diagnostics, limits);
    return parser.annotation(at);
}

}  // namespace sardonyx::syntax
