// A model as a script that has been seen to give the model back.
#pragma once

#include <cstdint>
#include <string>

#include "decompile/decompile.h"
#include "proto/as_read.h"

namespace sardonyx::driver {

// The first thing in which what two models compute differs; empty: nothing, they are isomorphic
// (docs/decompile.md). Of both is left out what no result needs.
std::string difference(const ir::Model& a, const ir::Model& b);

// Decompiles the model and compiles the text again, with the weights in memory. Error: what the
// language has no words for; or what differs, since then the text would mean another model.
Result<decompile::Script> decompile_model(const ir::Model& model,
                                          const decompile::Options& options);
enum class ScriptStyle : uint8_t {
    kPlain,     // decompile_model()
    kOutlined,  // the same with equal blocks that stand behind each other as one function
    // The same with names, order, documentation and all else that a script has no place for in a
    // table at the end of the text, from which compile() gives the bytes of the model back: as it
    // was read, or, where it has fields in an order that no writer has, as write_model() writes it.
    kExact,
    // A program of C++ over sardonyx::Builder, with the bodies of functions in the place of their
    // calls. It has not been compiled.
    kProgram,
};
Result<decompile::Script> decompile_as(ScriptStyle style, const ir::Model& model,
                                       const decompile::Options& options,
                                       const proto::Source& source);
// How the script of a model at `model_path` gets its weights: from the file that it names
// `weights`, where that is to be written, or else from the model, or, where there is no path that
// can be read again, they are literals.
decompile::Options decompile_options(const std::string& model_path, const std::string& weights);

// The files that a script takes its weights from.
struct WeightFile {
    std::string path;  // where it is written; empty: nothing is stored
    std::string name;  // as the script says it
};
// `FILE.safetensors` beside the script.
WeightFile weight_file_of(const std::string& script_path);

// Writes the weights of the script, where it has any, and then the script; empty `script_path`: the
// weights alone.
Result<void> write_script(const decompile::Script& script, const std::string& script_path,
                          const std::string& weights_path);

}  // namespace sardonyx::driver
