// The texts of files as a process that goes on reads them: again where they have changed.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/file.h"
#include "diagnostics/source.h"

namespace sardonyx::driver {

// Texts are never freed, because findings and trees point into them. Threads may share a cache.
class SourceCache {
  public:
    explicit SourceCache(diagnostics::Sources& sources) : sources_(sources) {}

    // Reads the file once for each state (size, time) of it on disk. No valid id: it cannot be
    // read, as for a notebook's cell.
    diagnostics::FileId of_file(const std::string& path);
    // The same for text that somebody else keeps; `shown` is what messages call it.
    diagnostics::FileId of_text(const std::string& path, const std::string& shown,
                                std::string text);

  private:
    struct Cached {
        FileState state;  // as nothing on disk, if the text came from elsewhere
        diagnostics::FileId file;
    };

    diagnostics::Sources& sources_;
    std::mutex lock_;
    std::map<std::string, Cached> files_;
};

}  // namespace sardonyx::driver
