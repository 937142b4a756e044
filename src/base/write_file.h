// Writing files so that a failure leaves no half-written one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/copy_bytes.h"
#include "base/result.h"

namespace sardonyx {

// The rights of a file that is replaced: those that a new file gets, or those that it had.
enum class WriteMode { kNewRights, kKeepRights };

// Files that belong together: all are written, and are on the disk where there are several, before
// the first gets its name. They get their names in the order of writing, so what others refer to
// comes first, and those of two processes do not mix. Without put_in_place() nothing has happened,
// but to devices and pipes: those are written into at once. It can be used for more files after
// that.
class NewFiles {
  public:
    explicit NewFiles(CopyOptions options = {});
    ~NewFiles();
    NewFiles(const NewFiles&) = delete;
    NewFiles& operator=(const NewFiles&) = delete;

    Result<void> write(const std::string& path, std::span<const std::string_view> parts,
                       WriteMode mode = WriteMode::kNewRights);
    // The same where the name says the content: `path_of` gives the path, in the folder of
    // `beside`, for the ContentHash of the bytes. The path.
    Result<std::string> write_named(const std::string& beside,
                                    std::span<const std::string_view> parts,
                                    const std::function<std::string(uint64_t hash)>& path_of);
    Result<void> put_in_place();
    // One more file, and all in their places.
    Result<void> put(const std::string& path, std::string_view bytes);

  private:
    class File;
    class LeftOvers;

    CopyOptions options_;
    std::unique_ptr<LeftOvers> left_overs_;
    std::vector<std::unique_ptr<File>> files_;
};

// Writes a new file, then gives it the name `path`: readers see the old bytes or the new. A link
// leads to the file that is replaced; a device or pipe is written into. A process that is killed
// leaves nothing, or what the next one to write the same file removes.
Result<void> write_file(const std::string& path, std::string_view bytes,
                        WriteMode mode = WriteMode::kNewRights);

struct FileParts {
    std::string path;
    std::span<const std::string_view> parts;  // of its bytes, one after the other
};
// What NewFiles does, at once.
Result<void> write_files(std::span<const FileParts> files);

}  // namespace sardonyx
