// Repairs, again and again until there are none left: mending one mistake may show another.
#pragma once

#include "driver/check.h"

namespace sardonyx::driver {

struct FixedFile {
    std::string path;
    std::string before;
    std::string after;
};

struct Fixed {
    std::vector<FixedFile> files;                 // those that change, in the order of `files`
    std::string text;                             // one line for each finding that has been mended
    std::unique_ptr<elaborate::Program> program;  // what remains
};

// Changes texts, not files.
Fixed fix(CheckRequest request);

}  // namespace sardonyx::driver
