// Source files and ranges in them. Every later phase names a place by Span.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::diagnostics {

struct FileId {
    uint32_t index = UINT32_MAX;

    bool valid() const { return index != UINT32_MAX; }
    friend bool operator==(FileId, FileId) = default;
};

// A half-open range of byte offsets in one file. A Span without a file points nowhere.
struct Span {
    FileId file;
    uint32_t begin = 0;
    uint32_t end = 0;

    bool valid() const { return file.valid(); }
    friend bool operator==(const Span&, const Span&) = default;
};

// Both 1-based; a column counts Unicode code points, as editors and compilers print it.
struct Position {
    uint32_t line = 1;
    uint32_t column = 1;
};

// Owns the text of every file of a run. Texts and paths stay where they are until it goes. Several
// threads may use it at once.
class Sources {
  public:
    // `text` may hold any bytes. Files of 2^32 bytes or more must be refused by the caller.
    FileId add(std::string path, std::string text);

    std::string_view path(FileId file) const { return get(file).path; }
    std::string_view text(FileId file) const { return get(file).text; }
    size_t size() const;

    Position position(FileId file, uint32_t offset) const;
    // The text of a 1-based line, without its line break.
    std::string_view line(FileId file, uint32_t line) const;

  private:
    struct File {
        std::string path;
        std::string text;
        mutable std::vector<uint32_t> line_starts;  // filled on first use, under the lock
    };
    const File& get(FileId file) const;
    const std::vector<uint32_t>& line_starts(FileId file) const;

    mutable std::mutex lock_;
    std::deque<File> files_;
};

}  // namespace sardonyx::diagnostics
