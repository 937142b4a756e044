// Any bytes as a notebook: no crash, and a cell is as long without its magics as with them.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "driver/notebook.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    auto cells = sardonyx::driver::notebook_cells(bytes);
    // Most bytes are no JSON: they are a cell, too.
    std::vector<std::string> texts = cells.ok() ? *cells : std::vector<std::string>();
    texts.emplace_back(bytes);
    for (const std::string& text : texts) {
        SDX_CHECK(sardonyx::driver::without_magics(text).size() == text.size());
    }
    return 0;
}
