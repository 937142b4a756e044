#include "bindings/schemas.h"

#include "bindings/bindings.h"
#include "driver/report.h"
#include "schemas/schemas.h"

namespace sardonyx::python {

namespace {

// (Schemas, text, json): None in place of the Schemas after a mistake.
nb::tuple load_schemas(const nb::list& paths) {
    diagnostics::Sources sources;
    diagnostics::Diagnostics found;
    Schemas made{std::make_shared<ops::SchemaSet>(), {}};
    for (nb::handle path : paths) {
        made.paths.push_back(text_from_python(path));
        schemas::load_schemas(made.paths.back(), sources, found, *made.set);
    }
    if (!found.has_errors()) {
        return nb::make_tuple(nb::cast(std::move(made)), nb::str(""), nb::str("[]"));
    }
    driver::Report report = driver::report_of(sources, found);
    return nb::make_tuple(nb::none(), text_to_python(report.text), text_to_python(report.json));
}

}  // namespace

void bind_schemas(nb::module_& m) {
    nb::class_<Schemas>(m, "Schemas")
        .def("__len__", [](const Schemas& self) { return self.set->entries().size(); })
        // Pickled as the names of the files: the reading process must have them, too.
        .def("__reduce__", [](const Schemas& self) {
            nb::list paths;
            for (const std::string& path : self.paths) {
                paths.append(text_to_python(path));
            }
            return nb::make_tuple(nb::module_::import_("sardonyx._schemas").attr("load_schemas"),
                                  nb::tuple(paths));
        });
    m.def("load_schemas", load_schemas, nb::arg("paths"));
}

}  // namespace sardonyx::python
