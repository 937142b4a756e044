#include "diagnostics/ignore.h"

#include <algorithm>
#include <map>
#include <optional>

namespace sardonyx::diagnostics {
namespace {

constexpr std::string_view kMark = "# sardonyx:";
constexpr std::string_view kBlanks = " \t";

// `text` from `at` on without its blanks; its place moves with it.
std::string_view trimmed(std::string_view text, uint32_t& at) {
    size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
    at += static_cast<uint32_t>(first);
    text = text.substr(first);
    return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// `[a, b]`; nothing where the bracket is not closed.
std::optional<std::vector<Span>> read_codes(std::string_view list, FileId file, uint32_t at) {
    std::vector<Span> codes;
    size_t end = list.find(']');
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    for (size_t begin = 1; begin <= end;) {
        size_t comma = std::min(list.find(',', begin), end);
        uint32_t place = at + static_cast<uint32_t>(begin);
        std::string_view code = trimmed(list.substr(begin, comma - begin), place);
        if (!code.empty()) {
            codes.push_back({file, place, place + static_cast<uint32_t>(code.size())});
        }
        begin = comma + 1;
    }
    return codes;
}

// Marks what the ignore says of this code; whether it says anything.
bool use(const Sources& sources, Ignore& ignore, std::string_view code) {
    if (ignore.codes.empty()) {
        ignore.was_used[0] = true;
        return true;
    }
    bool found = false;
    for (size_t i = 0; i < ignore.codes.size(); ++i) {
        const Span& span = ignore.codes[i];
        if (sources.text(span.file).substr(span.begin, span.end - span.begin) == code) {
            ignore.was_used[i] = true;
            found = true;
        }
    }
    return found;
}

bool may_be_silenced(const Diagnostic& one) {
    return one.kind->severity != Severity::kError && one.labels[0].span.valid();
}

// The lines on which the first label of a finding begins and ends.
struct Lines {
    uint32_t first, last;
};
Lines lines_of(const Sources& sources, const Diagnostic& one) {
    const Span& span = one.labels[0].span;
    return {sources.position(span.file, span.begin).line,
            sources.position(span.file, span.end).line};
}

}  // namespace

std::optional<Ignore> find_ignore(const Sources& sources, Span comment) {
    constexpr std::string_view kWord = "ignore";
    std::string_view text =
        sources.text(comment.file).substr(comment.begin, comment.end - comment.begin);
    uint32_t at = comment.begin + static_cast<uint32_t>(kMark.size());
    std::string_view words = trimmed(text.substr(std::min(kMark.size(), text.size())), at);
    if (words.substr(0, kWord.size()) != kWord) {
        return std::nullopt;
    }
    std::string_view rest = words.substr(kWord.size());
    if (rest.substr(0, 1) == "[") {
        std::optional<std::vector<Span>> codes =
            read_codes(rest, comment.file, at + static_cast<uint32_t>(kWord.size()));
        if (!codes || codes->empty()) {
            return std::nullopt;
        }
        size_t count = codes->size();
        return Ignore{comment, std::move(*codes), std::vector<bool>(count, false)};
    }
    bool ends = rest.empty() || kBlanks.find(rest[0]) != std::string_view::npos;
    return ends ? std::optional<Ignore>({comment, {}, {false}}) : std::nullopt;
}

void silence(const Sources& sources, std::vector<Ignore>& ignores, Diagnostics& diagnostics) {
    std::map<std::pair<uint32_t, uint32_t>, Ignore*> by_line;
    for (Ignore& ignore : ignores) {
        uint32_t line = sources.position(ignore.span.file, ignore.span.begin).line;
        by_line[{ignore.span.file.index, line}] = &ignore;
    }
    if (by_line.empty()) {
        return;
    }
    diagnostics.keep_if([&](const Diagnostic& one) {
        if (!may_be_silenced(one)) {
            return true;
        }
        Lines lines = lines_of(sources, one);
        bool is_silenced = false;
        for (uint32_t line : {lines.first, lines.last}) {
            auto found = by_line.find({one.labels[0].span.file.index, line});
            is_silenced =
                (found != by_line.end() && use(sources, *found->second, one.kind->code)) ||
                is_silenced;
        }
        return !is_silenced;
    });
}

void silence(const Sources& sources, Diagnostics& diagnostics) {
    std::vector<Ignore> ignores;
    for (const Diagnostic& one : diagnostics.items()) {
        if (!may_be_silenced(one)) {
            continue;
        }
        FileId file = one.labels[0].span.file;
        Lines lines = lines_of(sources, one);
        for (uint32_t number : {lines.first, lines.last}) {
            std::string_view line = sources.line(file, number);
            size_t mark = line.find(kMark);
            if (mark == std::string_view::npos) {
                continue;
            }
            auto begin = static_cast<uint32_t>(line.data() - sources.text(file).data());
            std::optional<Ignore> found =
                find_ignore(sources, {file, begin + static_cast<uint32_t>(mark),
                                      begin + static_cast<uint32_t>(line.size())});
            if (found) {
                ignores.push_back(std::move(*found));
            }
        }
    }
    silence(sources, ignores, diagnostics);
}

}  // namespace sardonyx::diagnostics
