// Repairs, again and again until there are none left: mending one mistake may show another.
#pragma once

#include "diagnostics/applicability.h"
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

// Makes the safe edits, and those that are guesses only where `least` is kUnsafe. Each changed text
// is checked again: what leaves more errors than there were is not made. Changes texts, not files.
Fixed fix(CheckRequest request, diagnostics::Applicability least);

}  // namespace sardonyx::driver
