// Reads files and writes them back, for tests/python/models/test_proto.py. Each line of stdin is
//   model|function|tensor <tab> path to read <tab> path to write
// and is answered by one line on stdout: "ok <read in us> <write in us>" or "error <message>".
// A path to write that is empty writes nothing.
#include <ctime>
#include <iostream>
#include <string>

#include "base/file.h"
#include "base/write_file.h"
#include "proto/proto.h"

namespace {

using sardonyx::Error;
using sardonyx::MappedFile;
using sardonyx::Result;
namespace proto = sardonyx::proto;

// Of the processor: the wall clock says little on a busy machine.
int64_t microseconds_since(std::clock_t start) {
    return static_cast<int64_t>(std::clock() - start) * 1'000'000 / CLOCKS_PER_SEC;
}

struct Times {
    int64_t read = 0;
    int64_t write = 0;
};

Result<std::string> round_trip_tensor(const MappedFile& file, const proto::ReadOptions& options,
                                      Times* times) {
    std::clock_t start = std::clock();
    Result<sardonyx::Tensor> tensor = proto::read_tensor(file.bytes, file.owner, options);
    SDX_TRY(tensor);
    times->read = microseconds_since(start);
    return proto::write_tensor(*tensor, "");
}

Result<std::string> round_trip(const std::string& kind, const std::string& path, Times* times) {
    std::clock_t start = std::clock();
    Result<MappedFile> file = sardonyx::map_file(path);
    SDX_TRY(file);
    proto::ReadOptions options;
    options.folder = path.substr(0, path.find_last_of('/'));
    if (kind == "tensor") {
        return round_trip_tensor(*file, options, times);
    }
    auto model = kind == "model" ? proto::read_model_file(path)
                                 : proto::read_function(file->bytes, file->owner, options);
    SDX_TRY(model);
    times->read = microseconds_since(start);
    start = std::clock();
    Result<std::string> bytes = kind == "model"
                                    ? proto::write_model(**model)
                                    : proto::write_function(**model, *(*model)->functions.front());
    times->write = microseconds_since(start);
    return bytes;
}

}  // namespace

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        size_t first = line.find('\t');
        size_t second = line.find('\t', first + 1);
        std::string target = line.substr(second + 1);
        Times times;
        Result<std::string> bytes =
            round_trip(line.substr(0, first), line.substr(first + 1, second - first - 1), &times);
        if (bytes.ok() && !target.empty()) {
            Result<void> written = sardonyx::write_file(target, *bytes);
            if (!written.ok()) {
                bytes = written.error();
            }
        }
        if (bytes.ok()) {
            std::cout << "ok " << times.read << ' ' << times.write << std::endl;
        } else {
            std::cout << "error " << bytes.error().message << std::endl;
        }
    }
    return 0;
}
