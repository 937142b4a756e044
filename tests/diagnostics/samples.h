// Findings to render, for the tests.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "diagnostics/render.h"

namespace sardonyx::diagnostics {

inline constexpr Kind kBroadcastMismatch{"broadcast-mismatch", Severity::kError};
inline constexpr Kind kUnusedName{"unused-name", Severity::kWarning};
inline constexpr Kind kRemark{"remark", Severity::kNote};

// The `occurrence`-th (from 0) place of `words` in a file.
inline Span span_of(const Sources& sources, FileId file, std::string_view words,
                    int occurrence = 0) {
    std::string_view text = sources.text(file);
    size_t begin = text.find(words);
    for (; occurrence > 0 && begin != std::string_view::npos; --occurrence) {
        begin = text.find(words, begin + 1);
    }
    if (begin == std::string_view::npos) {
        throw std::invalid_argument("no such words: " + std::string(words));
    }
    return {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + words.size())};
}

// From the beginning of the first words to the end of the last.
inline Span from_to(const Sources& sources, FileId file, std::string_view first,
                    std::string_view last) {
    return {file, span_of(sources, file, first).begin, span_of(sources, file, last).end};
}

}  // namespace sardonyx::diagnostics
