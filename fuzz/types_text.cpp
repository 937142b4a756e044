// Any text as a dim and as a type: no crash, and what is read prints so that it reads back the
// same.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "types/dim.h"
#include "types/type.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    std::optional<sardonyx::Dim> dim = sardonyx::Dim::parse(text);
    if (dim.has_value() && dim->is_symbolic()) {
        // Through a type, since a lone symbol prints without its quotes.
        std::optional<sardonyx::Type> type =
            sardonyx::Type::tensor(sardonyx::ElementType::kInt64, sardonyx::Shape{*dim});
        std::optional<sardonyx::Type> back = sardonyx::parse_type(type->to_string());
        SDX_CHECK(back.has_value() && back == type);
        SDX_CHECK(!dim->differs(back->shape()[0]));
    }
    std::optional<sardonyx::Type> type = sardonyx::parse_type(text);
    if (type.has_value()) {
        std::optional<sardonyx::Type> back = sardonyx::parse_type(type->to_string());
        SDX_CHECK(back.has_value() && back == type);
        SDX_CHECK(merge(*type, *back) == type);
    }
    return 0;
}
