// Where a regular expression matches in texts, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "eval/kernels/regex/characters.h"
#include "eval/kernels/regex/regex.h"

namespace sardonyx::eval {

// Of a pattern that must live as long.
class RegexSearch {
  public:
    explicit RegexSearch(const Regex& regex);

    // The text in which the places are from now on.
    void read(std::string_view text);

    // Where the longest match ends that begins at the byte `begin`, where a character begins or the
    // text ends. Assertions see the whole text. The time is linear in what is left of the text.
    std::optional<size_t> longest_at(size_t begin);

  private:
    // A byte of a text.
    struct CharacterAt {
        uint32_t begins_here = kNoCharacter;
        uint32_t ends_here = kNoCharacter;
        size_t bytes = 1;  // of the character that begins here
    };

    // The states of the automaton between two characters.
    class States {
      public:
        explicit States(size_t size) : marks_(size, 0) {}

        void clear() {
            ++round_;
            items_.clear();
        }
        // False: it was there already.
        bool add(uint32_t state) {
            if (marks_[state] == round_) {
                return false;
            }
            marks_[state] = round_;
            items_.push_back(state);
            return true;
        }
        const std::vector<uint32_t>& items() const { return items_; }

      private:
        std::vector<uint64_t> marks_;
        std::vector<uint32_t> items_;
        uint64_t round_ = 1;
    };

    bool admits(Regex::Op op, size_t at) const;
    void follow(uint32_t start, size_t at, States* states);

    const Regex* regex_;
    std::vector<CharacterAt> characters_;
    std::vector<States> states_;  // of the byte i in states_[i % size]
    std::vector<uint32_t> stack_;
};

}  // namespace sardonyx::eval
