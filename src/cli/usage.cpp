#include "cli/usage.h"

#include <fmt/format.h>

#include "base/nearest.h"

namespace sardonyx::cli {

bool is_option(std::string_view word) {
    return word.size() > 1 && word[0] == '-';
}

Answer usage_error(std::string_view command, std::string_view message) {
    std::string_view space = command.empty() ? "" : " ";
    return {fmt::format("{}; see `sardonyx {}{}--help`", message, command, space), kUsage};
}

Answer unknown_word(std::string_view command, std::string_view kind, std::string_view word,
                    std::span<const std::string_view> names) {
    std::string_view near = nearest(word, names);
    return usage_error(
        command, near.empty()
                     ? fmt::format("there is no {} `{}`", kind, word)
                     : fmt::format("there is no {} `{}`; did you mean `{}`?", kind, word, near));
}

}  // namespace sardonyx::cli
