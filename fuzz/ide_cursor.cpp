// Any bytes as a text with a cursor: what stands there lies within the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "ide/cursor.h"
#include "ide/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace sardonyx;
    std::string text(reinterpret_cast<const char*>(data), std::min<size_t>(size, 20'000));
    ide::LineTable lines(text);
    auto end = static_cast<uint32_t>(text.size());
    for (uint32_t offset : {0u, end / 3, end / 2, end}) {
        ide::Cursor cursor = ide::look_at(text, offset);
        SDX_CHECK(cursor.replaced.begin <= cursor.replaced.end && cursor.replaced.end == offset);
        if (std::optional<ide::NameAt> name = ide::name_at(text, offset)) {
            SDX_CHECK(name->range.begin <= name->range.end && name->range.end <= end);
        }
        for (ide::Encoding encoding :
             {ide::Encoding::kUtf8, ide::Encoding::kUtf16, ide::Encoding::kUtf32}) {
            ide::Place place = lines.place(offset, encoding);
            uint32_t back = lines.offset(place, encoding);
            SDX_CHECK(back <= offset && lines.place(back, encoding) == place);
        }
    }
    for (const ide::AssignedName& name : ide::assigned_names(text)) {
        SDX_CHECK(name.begin < name.statement_end && name.statement_end <= end);
    }
    return 0;
}
