// Repairs: the edits that findings carry, put into the texts of their files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace sardonyx::diagnostics {

struct Repairs {
    std::map<uint32_t, std::string> texts;    // the new texts, by the number of the file
    std::vector<const Diagnostic*> findings;  // those whose edits are in them, in order
};

// Puts in the edits of as many of the findings as go together: all edits of a finding or none, and
// of findings whose edits overlap the first. Findings that edit a file outside of `files` are left
// alone. Line breaks of a replacement become those of the file.
Repairs apply_edits(const Sources& sources, const std::vector<const Diagnostic*>& findings,
                    const std::vector<FileId>& files);

}  // namespace sardonyx::diagnostics
