#include "cli/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sardonyx::cli {

template <typename T>
std::string problem_of_number(const std::string& word, T least, T most) {
    constexpr bool kIsInteger = std::is_integral_v<T>;
    T value{};
    const char* end = word.data() + word.size();
    auto [stop, error] = std::from_chars(word.data(), end, value);
    // CLI11 would read it as an octal number.
    bool is_octal = kIsInteger && word.size() > 1 && word[0] == '0';
    if (error == std::errc() && stop == end && value >= least && value <= most && !is_octal) {
        return "";
    }
    bool is_large = error == std::errc::result_out_of_range && word[0] != '-';
    bool is_open = most == std::numeric_limits<T>::max() && !is_large;
    return fmt::format(
        "`{}` is not {} {}", word, kIsInteger ? "an integer" : "a finite number",
        is_open ? fmt::format("of {} or more", least) : fmt::format("from {} to {}", least, most));
}

template std::string problem_of_number(const std::string& word, int least, int most);
template std::string problem_of_number(const std::string& word, int64_t least, int64_t most);
template std::string problem_of_number(const std::string& word, uint64_t least, uint64_t most);
template std::string problem_of_number(const std::string& word, double least, double most);

}  // namespace sardonyx::cli
