#include "policy/registry.hpp"

#include <algorithm>

#include "policy/learning.hpp"
#include "policy/lru.hpp"

namespace tencache::policy {
namespace {

template <class T>
std::unique_ptr<Policy> make() {
  return std::make_unique<T>();
}

constexpr PolicyRow kPolicies[] = {
    {"lru", "puts out what was accessed longest ago, brings in when needed", make<LeastRecentlyUsed>},
    {"learn", "learns what repeats: the farthest clean leaves, what is next comes in ahead of its use",
     make<Learning>},
};

}  // namespace

std::span<const PolicyRow> policies() { return kPolicies; }

const PolicyRow* find_policy(std::string_view name) {
  const auto row = std::find_if(std::begin(kPolicies), std::end(kPolicies),
                                [name](const PolicyRow& r) { return name == r.name; });
  return row == std::end(kPolicies) ? nullptr : &*row;
}

}  // namespace tencache::policy
