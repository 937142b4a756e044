// Places in a text as editors say them: lines and characters from 0 on, in code units of an
// encoding.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sardonyx::ide {

enum class Encoding : uint8_t { kUtf8, kUtf16, kUtf32 };

struct Place {
    uint32_t line = 0;
    uint32_t character = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

// The lines of a text, which end as editors have it: with "\n", "\r\n" or "\r". The text must stay.
class LineTable {
  public:
    explicit LineTable(std::string_view text);

    // The byte offset of a place; of one that the text does not have, the nearest before it.
    uint32_t offset(Place place, Encoding encoding) const;
    Place place(uint32_t offset, Encoding encoding) const;

  private:
    std::string_view text_;
    std::vector<uint32_t> starts_;
};

}  // namespace sardonyx::ide
