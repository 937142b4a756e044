// The pages of docs/diagnostics as data: what each code means, with an example and its repair.
#pragma once

#include <span>
#include <string_view>

namespace sardonyx::diagnostics {

struct Page {
    std::string_view code;
    std::string_view summary;  // the first sentence
    std::string_view text;     // Markdown
};

// Sorted by code; generated from the pages when the project is built.
std::span<const Page> pages();
// Null: there is none.
const Page* find_page(std::string_view code);

}  // namespace sardonyx::diagnostics
