// What the values of a program are called in the text of a script.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "torch/program.h"

namespace sardonyx::torch {

class Names {
  public:
    // `modules`: names that the text has for something else, beside those that it always has.
    Names(const Program& program, const std::set<std::string>& modules);

    // A name that resembles the text and that nothing else has.
    std::string plain(std::string_view text);
    // The expression for a value: its name, or an item of `w`.
    const std::string& operator()(std::string_view value) const;

  private:
    std::unordered_map<std::string, std::string> given_;
    std::unordered_set<std::string> used_;
};

// Whether a table has the name.
template <size_t kCount>
bool holds(const std::string_view (&names)[kCount], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Whether it is one of Python's keywords.
bool is_keyword(std::string_view text);
// Whether a value can be called so in a script.
bool is_free_name(std::string_view text);

// What stands behind the last dot: `Tensor` of `torch.ops.aten.add.Tensor`, and what is before
// that.
std::string_view last_part(std::string_view path);
std::string_view packet_of_path(std::string_view path);
bool is_argument_name(std::string_view text);

// A string as Python writes it, on one line, in these quotes.
std::string python_string(std::string_view text, char quote);

}  // namespace sardonyx::torch
