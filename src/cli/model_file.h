// Models that commands read and write, as files or through pipes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "ir/ir.h"
#include "proto/as_read.h"
#include "proto/forms.h"

namespace sardonyx::cli {

struct ModelFile {
    std::unique_ptr<ir::Model> model;
    FileStamps stamps;
    std::vector<std::string> external;  // the files of its weights
    proto::Source source = {};
};

using FormChoice = std::optional<proto::Form>;

// "-" is standard input, which has no external data, and holds bytes unless `form` says another
// form; that of a file goes by its ending.
Result<ModelFile> load_model(const std::string& path, FormChoice form = std::nullopt);

// Writes the model whole or not at all, as the first of `sources` was read where it is that one;
// "-" is standard output. Where a model that it was made from had external data, it has them too:
// initializers of 1 KiB and more, or of `external_bytes`. Error: the file holds weights of one that
// it was made from. The number of bytes.
struct SaveRequest {
    std::string path;
    size_t external_bytes = 0;  // 0: see above
    bool is_quiet = false;      // shows no progress
    FormChoice form = std::nullopt;
};
Result<size_t> save_model(const ir::Model& model, const SaveRequest& request,
                          const std::vector<const ModelFile*>& sources);

}  // namespace sardonyx::cli
