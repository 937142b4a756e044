#include "ide/notebook.h"

#include "driver/notebook.h"

namespace sardonyx::ide {

JoinedCells join_cells(const std::vector<std::string>& cells) {
    JoinedCells joined;
    for (const std::string& cell : cells) {
        joined.begins.push_back(static_cast<uint32_t>(joined.text.size()));
        joined.text += driver::without_magics(cell) + "\n";
    }
    return joined;
}

}  // namespace sardonyx::ide
