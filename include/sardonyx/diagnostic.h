// A finding about a script or a model, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sardonyx {
inline namespace v1 {

enum class Severity { kNote, kWarning, kError };

// A range of a source file. Lines and columns begin at 1; a column counts Unicode code points.
struct Location {
    std::string path;  // empty: nowhere in particular
    uint32_t line = 0;
    uint32_t column = 0;
    std::string message;      // what is to be seen there; may be empty
    uint32_t end_line = 0;    // just behind the range
    uint32_t end_column = 0;  //
    uint32_t begin = 0;       // the same in bytes from the start of the file
    uint32_t end = 0;
};

// What a machine could write instead of bytes [begin, end) of a file.
struct Edit {
    std::string path;
    uint32_t begin = 0;
    uint32_t end = 0;
    std::string replacement;
};

struct Diagnostic {
    Severity severity = Severity::kError;
    std::string code;  // "unknown-operator"; each has a page in docs/diagnostics
    std::string message;
    std::vector<Location> locations;  // the first is that of the problem
    std::vector<std::string> notes;
    std::string help;         // what to do; may be empty
    std::vector<Edit> edits;  // that together repair it; may be empty
};

}  // namespace v1
}  // namespace sardonyx
