// Cells of notebooks without what IPython alone understands.
#include "driver/notebook.h"

#include <gtest/gtest.h>

#include <string>

namespace sardonyx::driver {
namespace {

TEST(Notebook, LinesOfMagicsAreUnknownValues) {
    EXPECT_EQ(without_magics("%cd x\ny = 1\n"), "_()#x\ny = 1\n");
    EXPECT_EQ(without_magics("y = 1\n"), "y = 1\n");
}

TEST(Notebook, LinesMayHoldNothingButTheirEnds) {
    for (std::string cell : {"\r\n)", "\r\n\xb1#", "\r", " \t\r\n?"}) {
        EXPECT_EQ(without_magics(cell).size(), cell.size());
    }
}

}  // namespace
}  // namespace sardonyx::driver
