// Identifiers: readable, unique, and never a keyword or a name with a meaning of its own.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace sardonyx::decompile {

// Whether the text may stand as it is behind a dot, or as a keyword of a call.
bool is_identifier(std::string_view text);

inline constexpr size_t kMostLetters = 32;

// The names of one scope.
class Names {
  public:
    // `outer`: names that these may not hide; null: none. It outlives these.
    explicit Names(const Names* outer = nullptr) : outer_(outer) {}

    // A new name that resembles `hint`; `fallback` is an identifier for a hint without letters. Of
    // a long one, the end is kept.
    std::string fresh(std::string_view hint, std::string_view fallback,
                      size_t most_letters = kMostLetters);
    // The name of an input or output: as it is if a script can have it, since callers say it. It
    // may be that of a builtin that the text does not use.
    std::string kept(std::string_view hint, std::string_view fallback);
    void reserve(std::string_view name) { taken_.emplace(name); }
    bool is_free(const std::string& name) const;

  private:
    const Names* outer_;
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, int> counts_;  // the last suffix that was given
};

}  // namespace sardonyx::decompile
