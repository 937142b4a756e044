// What the last check of a file found in each of its scripts, for the next check after an edit:
// a script is not compiled again where nothing that it can see has changed.
//
// A script can see its own body, the bodies of the scripts that its text or those bodies name, all
// that stands outside of the bodies of scripts in its file, with the scripts that are named there,
// and other files. A body is what is below `def`, so that an edit of a signature is one outside.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "diagnostics/inlays.h"
#include "diagnostics/source.h"

namespace sardonyx::driver {

// Of one script.
struct ScriptFindings {
    std::vector<diagnostics::Diagnostic> findings;
    std::vector<diagnostics::Inlay> types;
    std::vector<size_t> called;  // the places of scripts of the file that it calls
};

struct ScriptBody {
    std::string_view name;
    uint32_t begin = 0, end = 0;  // bytes of the file
};

// A file as the memory sees it.
struct ScriptLayout {
    diagnostics::FileId file;
    std::string_view text;
    std::vector<ScriptBody> bodies;              // in order, apart from each other
    std::vector<std::vector<size_t>> mentioned;  // by each script: those that its text names
    uint64_t context = 0;                        // a hash of what else its findings depend on
};

class CheckMemory {
  public:
    // Begins a check. Nothing is found and nothing kept until this is called.
    void begin(const ScriptLayout& layout);
    // What has been kept of a script, at the places that this text has for it; null: nothing.
    const ScriptFindings* find(size_t script);
    void keep(size_t script, const ScriptFindings& found);
    // Ends it: what was neither found nor kept is forgotten.
    void end();

  private:
    struct Bounds {
        uint32_t begin, end;
    };
    static size_t region_of(const std::vector<Bounds>& regions, uint32_t place);
    uint32_t moved_begin(uint32_t place) const;
    uint32_t moved_end(uint32_t place) const;
    bool can_see(size_t script, const diagnostics::Span& span) const;
    bool can_keep(size_t script, const ScriptFindings& found) const;

    bool is_on_ = false;
    diagnostics::FileId file_;
    // Of this check and of the last: the gap before body i is at 2 * i, the body behind it.
    std::vector<Bounds> regions_, last_regions_;
    std::vector<std::vector<size_t>> seen_;  // by each script, in order
    std::vector<uint64_t> keys_;
    std::unordered_map<uint64_t, ScriptFindings> kept_, last_;
};

}  // namespace sardonyx::driver
