#include "policy/registry.hpp"

#include <gtest/gtest.h>

namespace tencache::policy {
namespace {

TEST(Registry, EveryPolicyIsFoundByItsName) {
  for (const PolicyRow& row : policies()) {
    EXPECT_EQ(find_policy(row.name), &row);
    EXPECT_STREQ(row.make()->name(), row.name);
  }
}

TEST(Registry, AnUnknownNameIsNoPolicy) { EXPECT_EQ(find_policy("fifo"), nullptr); }

}  // namespace
}  // namespace tencache::policy
