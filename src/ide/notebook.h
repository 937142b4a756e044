// The cells of a notebook as the one script whose names they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sardonyx::ide {

struct JoinedCells {
    std::string text;
    std::vector<uint32_t> begins;  // of the cells in the text, in which each is as long as it was
};
JoinedCells join_cells(const std::vector<std::string>& cells);

}  // namespace sardonyx::ide
