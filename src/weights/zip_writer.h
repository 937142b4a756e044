// A ZIP archive of files that are stored as they are, as numpy.savez writes its .npz.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sardonyx::weights {

class ZipWriter {
  public:
    // Error: beyond 4 GiB or 65,535 files, which need another form of the archive.
    Result<void> add(std::string_view name, std::string_view bytes);
    // The archive; nothing may be added afterwards.
    std::string finish();

  private:
    std::string out_;
    std::string directory_;
    size_t count_ = 0;
};

}  // namespace sardonyx::weights
