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
    // How many code units stand before an offset, every so many bytes: a line may be of megabytes.
    struct Mark {
        uint32_t offset = 0;  // of the beginning of a code point
        uint32_t units16 = 0;
        uint32_t units32 = 0;
    };
    static constexpr uint32_t kMarkDistance = 1024;

    static uint32_t units_at(const Mark& mark, Encoding encoding);
    uint32_t units_between(uint32_t begin, uint32_t end, Encoding encoding) const;
    uint32_t units_before(uint32_t offset, Encoding encoding) const;

    std::string_view text_;
    std::vector<uint32_t> starts_;
    std::vector<Mark> marks_;
};

}  // namespace sardonyx::ide
