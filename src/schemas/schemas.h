// The phase: a schema file (TOML, docs/schemas.md) in, schemas of operators of other domains out.
#pragma once

#include "diagnostics/diagnostic.h"
#include "ops/schema_set.h"

namespace sardonyx::schemas {

// Adds the operators of a file to the set. An operator with a mistake is reported and left out.
void read_schemas(const diagnostics::Sources& sources, diagnostics::FileId file,
                  diagnostics::Diagnostics& diagnostics, ops::SchemaSet& set);

// The same for a file of the disk, whose text is added to the sources.
void load_schemas(const std::string& path, diagnostics::Sources& sources,
                  diagnostics::Diagnostics& diagnostics, ops::SchemaSet& set);

}  // namespace sardonyx::schemas
