// Functions of `itertools` and `functools` over what is known at compile time.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object itertools_product(Context& c, const Arguments& a);
Object itertools_chain(Context& c, const Arguments& a);
Object itertools_from_iterable(Context& c, const Arguments& a);
Object itertools_accumulate(Context& c, const Arguments& a);
Object itertools_zip_longest(Context& c, const Arguments& a);
Object itertools_islice(Context& c, const Arguments& a);
Object itertools_count(Context& c, const Arguments& a);
Object itertools_cycle(Context& c, const Arguments& a);
Object itertools_takewhile(Context& c, const Arguments& a);
Object itertools_dropwhile(Context& c, const Arguments& a);
Object itertools_filterfalse(Context& c, const Arguments& a);
Object itertools_compress(Context& c, const Arguments& a);
Object itertools_repeat(Context& c, const Arguments& a);
Object itertools_combinations(Context& c, const Arguments& a);
Object itertools_permutations(Context& c, const Arguments& a);
Object itertools_pairwise(Context& c, const Arguments& a);
Object itertools_starmap(Context& c, const Arguments& a);
Object functools_reduce(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
