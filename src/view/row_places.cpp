#include "view/row_places.h"

#include <cstddef>

namespace sardonyx::view {

void fit_rising(std::vector<Wish>& wishes) {
    struct Pool {
        double sum = 0, weight = 0;
        size_t count = 0;
        double mean() const { return sum / weight; }
    };
    std::vector<Pool> pools;
    for (const Wish& wish : wishes) {
        pools.push_back({static_cast<double>(wish.place) * wish.weight, wish.weight, 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
            Pool last = pools.back();
            pools.pop_back();
            pools.back().sum += last.sum;
            pools.back().weight += last.weight;
            pools.back().count += last.count;
        }
    }
    size_t next = 0;
    for (const Pool& pool : pools) {
        for (size_t i = 0; i < pool.count; ++i) {
            wishes[next++].place = static_cast<float>(pool.mean());
        }
    }
}

}  // namespace sardonyx::view
