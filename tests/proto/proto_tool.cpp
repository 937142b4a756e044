// Reads files and writes them back, for tests/python/models/test_proto.py. Each line of stdin is
//   model|function|tensor <tab> path to read <tab> path to write
// and is answered by "ok" with the microseconds of reading and of writing, or "error" with a
// message. A path to write that is empty writes nothing.
#include <ctime>
#include <string>

#include "../requests.h"
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

std::string answer(const std::vector<std::string>& fields) {
    Times times;
    Result<std::string> bytes = round_trip(fields[0], fields[1], &times);
    if (bytes.ok() && !fields[2].empty()) {
        if (Result<void> written = sardonyx::write_file(fields[2], *bytes); !written.ok()) {
            bytes = written.error();
        }
    }
    return bytes.ok() ? "ok\t" + std::to_string(times.read) + "\t" + std::to_string(times.write)
                      : "error\t" + bytes.error().message;
}

}  // namespace

int main() {
    return sardonyx::test::serve(3, answer);
}
