#include "torch/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sardonyx::torch {
namespace {

constexpr std::string_view kEquals = " == ", kSize = ".size()", kLocal = "L['";
constexpr size_t kMostShown = 5;

bool is_number(std::string_view text) {
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    return !text.empty() && text.front() != '.' &&
           text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Whether a branch on a remainder, as of `if n % 4 != 0`, has been taken: `(n % 4) != 0`, and also
// `(n % 4) == 0` unless another guard has `n // 4`, as those of a `reshape` do, which fails in the
// model as well.
bool is_of_remainder(std::string_view guard, std::span<const std::string> guards) {
    constexpr std::string_view kModulo = " % ", kIsZero = ") == 0", kIsNotZero = ") != 0";
    bool is_zero = guard.ends_with(kIsZero);
    size_t modulo = guard.find(kModulo);
    if (!guard.starts_with('(') || modulo == std::string_view::npos ||
        (!is_zero && !guard.ends_with(kIsNotZero))) {
        return false;
    }
    std::string_view size = guard.substr(1, modulo - 1);
    size_t after = modulo + kModulo.size();
    std::string_view divisor = guard.substr(after, guard.size() - kIsZero.size() - after);
    size_t first = size.find(kSize);
    bool is_one = size.starts_with(kLocal) && size.ends_with(']') &&
                  first != std::string_view::npos && first == size.rfind(kSize) &&
                  size.find(' ') == std::string_view::npos;
    if (!is_one || !is_number(divisor)) {
        return false;
    }
    std::string quotient = fmt::format("({} // {})", size, divisor);
    return !is_zero || std::none_of(guards.begin(), guards.end(), [&](const std::string& one) {
        return one.find(quotient) != std::string::npos;
    });
}

// Left out are sizes that are numbers in the model, and what is equal for many sizes, such as
// `n // (n // 2)`.
bool fixes_a_size(std::string_view guard, std::span<const std::string> guards) {
    if (is_of_remainder(guard, guards)) {
        return true;
    }
    size_t equals = guard.rfind(kEquals);
    if (equals == std::string_view::npos || !is_number(guard.substr(equals + kEquals.size()))) {
        return false;
    }
    std::string_view size = guard.substr(0, equals);
    size_t first = size.find(kSize);
    return first != std::string_view::npos && first == size.rfind(kSize) && !size.ends_with(']') &&
           size.find('%') == std::string_view::npos;
}

void replace_all(std::string& text, std::string_view old, std::string_view now) {
    for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at)) {
        text.replace(at, old.size(), now);
        at += now.size();
    }
}

// `(x.shape[1] // 2) == 10`.
std::string as_written(std::string_view guard) {
    std::string text(guard);
    replace_all(text, kSize, ".shape");
    for (size_t at = text.find(kLocal); at != std::string::npos; at = text.find(kLocal, at)) {
        text.erase(at, kLocal.size());
        if (size_t end = text.find("']", at); end != std::string::npos) {
            text.erase(end, 2);
        }
    }
    return text;
}

}  // namespace

std::string size_warning(std::span<const std::string> guards) {
    std::string told;
    size_t count = 0;
    for (const std::string& guard : guards) {
        if (fixes_a_size(guard, guards) && ++count <= kMostShown) {
            told += fmt::format("{}`{}`", told.empty() ? "" : ", ", as_written(guard));
        }
    }
    if (count == 0) {
        return {};
    }
    if (count > kMostShown) {
        told += fmt::format(" and {} more", count - kMostShown);
    }
    return fmt::format(
        "the model is right for some sizes alone: {}; PyTorch has computed with the numbers of the "
        "example, such as in `range(x.shape[1] // 2)` or `if x.shape[1] % 2`",
        told);
}

}  // namespace sardonyx::torch
