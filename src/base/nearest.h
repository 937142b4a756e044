// "Did you mean": the candidate nearest to a misspelt word.
#pragma once

#include <span>
#include <string_view>

namespace sardonyx {

// The candidate with the least Damerau-Levenshtein distance (optimal string alignment; letter case
// counts half), or an empty view when none is near enough (a third of the word's length, at least
// one edit). Ties go to the earlier candidate.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sardonyx
