// `--python`: the file is imported by the user's Python, whose package compiles it
// (python/sardonyx/_from_file.py), with the values that its names have there.
#pragma once

#include <optional>

namespace sardonyx::cli {

// Does not return where Python takes over; the exit status where it cannot be started; nothing
// where the words do not ask for it.
std::optional<int> run_in_python(int count, char** words);

}  // namespace sardonyx::cli
