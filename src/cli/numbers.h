// Numbers among the words of a command line.
#pragma once

#include <string>

namespace sardonyx::cli {

// What is wrong with a word that is to be a decimal number of the range, a finite one; empty:
// nothing. T is int, int64_t, uint64_t or double.
template <typename T>
std::string problem_of_number(const std::string& word, T least, T most);

}  // namespace sardonyx::cli
