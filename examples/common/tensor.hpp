// Floats on the device, one cudaMalloc each, counted. Called by the GPT and the MLP. Thread rule: one thread.
// Failure rule: a refused cudaMalloc ends the program with code 2 and a line.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace examples {

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::size_t count);
  Tensor(Tensor&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Tensor();

  // Frees them before their scope ends.
  friend void release(std::same_as<Tensor> auto&... tensors) { ((void)Tensor(std::move(tensors)), ...); }

  [[nodiscard]] float* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }

  void from_host(const std::vector<float>& values);
  [[nodiscard]] std::vector<float> to_host() const;

 private:
  float* data_ = nullptr;
  std::size_t count_ = 0;
};

// The most that was ever asked for and not yet freed, in bytes.
std::size_t peak_live_bytes();

// FNV-1a, to be continued over several arrays.
inline constexpr unsigned long long kChecksumStart = 0xcbf29ce484222325ULL;
unsigned long long checksum(const std::vector<float>& values, unsigned long long sum);

}  // namespace examples
