// Pictures as inputs of a run.
#pragma once

#include <string>

#include "base/result.h"
#include "eval/eval.h"

namespace sardonyx::cli {

// Whether a word names a picture, by the end of its name: .png, .jpg, .bmp, .webp and others.
bool is_image_file(const std::string& path);

// The picture as what is declared: [height, width, channels] or [channels, height, width], with or
// without an axis of one picture before; channels are red, green and blue, or one of grey. Integers
// are 0 to 255, real numbers 0 to 1. A vector of UINT8 is the file as it is, for ImageDecoder.
// Error: the file is no picture, a library for its format is missing, sizes differ (it is not
// resized), or the declaration does not say where the channels are.
Result<eval::RuntimeValue> read_image(const std::string& path, const Type& declared);

}  // namespace sardonyx::cli
