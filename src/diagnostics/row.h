// One printed row, filled in any order and written out once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::diagnostics {

enum class Style : uint8_t {
    kPlain,
    kBold,
    kFrame,  // line numbers, bars and the labels of other places
    kError,
    kWarning,
    kNote,
};

class Row {
  public:
    // Puts text at a column, over what is there. Control characters are made visible.
    void put(uint32_t column, std::string_view text, Style style);
    // Puts one character of one column, without looking at it.
    void put_mark(uint32_t column, char mark, Style style);
    // Puts a character that is already fit to be shown.
    void put_shown(uint32_t column, uint32_t width, std::string_view shown,
                   Style style = Style::kPlain);
    uint32_t width() const { return static_cast<uint32_t>(cells_.size()); }

    // Without trailing blanks; with escape sequences when `color`.
    std::string to_string(bool color) const;

  private:
    struct Cell {
        std::string text = " ";  // empty: the right half of a wide character
        Style style = Style::kPlain;
    };
    std::vector<Cell> cells_;
};

}  // namespace sardonyx::diagnostics
