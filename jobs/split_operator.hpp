// The rows of one process as an operator to all of them.
#pragma once

#include <cstddef>
#include <span>

#include "gpu/device_group.hpp"
#include "jobs/communicator.hpp"
#include "operators/linear_operator.hpp"

namespace echoform {

/// adjoint() sums over processes. Where the operator of one process fails (a GPU may), all throw, as in together(), so that
/// no process waits for a sum that never comes. Only DeviceGroupFault concerns this process alone.
class SplitOperator final : public LinearOperator {
 public:
  /// All outlive this. With `devices`, of all processes, images are added up in the memory of the GPUs, if the operators work
  /// there.
  SplitOperator(LinearOperator& own, Communicator& communicator, DeviceGroup* devices = nullptr)
      : own_(own), communicator_(communicator), devices_(own.on_device() == nullptr ? nullptr : devices) {}

  [[nodiscard]] std::size_t image_size() const noexcept override { return own_.image_size(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return own_.data_size(); }
  void apply(std::span<const float> image, std::span<float> data) override;
  void adjoint(std::span<const float> data, std::span<float> image) override;
  [[nodiscard]] std::size_t bytes() const noexcept override { return own_.bytes(); }

 private:
  LinearOperator& own_;
  Communicator& communicator_;
  DeviceGroup* devices_;
};

}  // namespace echoform
