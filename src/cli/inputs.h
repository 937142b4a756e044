// The inputs of a run: words of the command line to values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"

namespace sardonyx::cli {

// How random numbers are drawn.
struct RandomOptions {
    uint64_t seed = 0;
    std::vector<std::pair<std::string, int64_t>> sizes;  // of named dimensions
};

// The value that `text` stands for: FILE.npy, FILE.npz (the tensor of the input's name, or its only
// one), FILE.json, a picture, `rand:TYPE`, `rand`, or a Python literal. `declared` is what the
// model says of the input; a literal takes its element type.
Result<eval::RuntimeValue> read_input(const std::string& name, const std::string& text,
                                      const Type& declared, const RandomOptions& random);

// Random numbers of a declared type; sizes that are not numbers and not named are 4.
Result<eval::RuntimeValue> random_input(const std::string& name, const Type& declared,
                                        const RandomOptions& random);

// Whether a word without a name is a file of named inputs: .npz, or .json with an object.
bool is_input_file(const std::string& word);
// The names and values of such a file. `type_of` gives what the model says of an input; nothing: it
// has none of this name, and the value is read as what it implies.
using TypeOf = std::function<std::optional<Type>(std::string_view)>;
Result<std::vector<std::pair<std::string, eval::RuntimeValue>>> read_input_file(
    const std::string& path, const TypeOf& type_of);

}  // namespace sardonyx::cli
