#include "jobs/split_operator.hpp"

#include "jobs/together.hpp"

namespace echoform {

void SplitOperator::apply(std::span<const float> image, std::span<float> data) {
  together(communicator_, [&] { own_.apply(image, data); });
}

void SplitOperator::adjoint(std::span<const float> data, std::span<float> image) {
  if (devices_ == nullptr) {
    together(communicator_, [&] { own_.adjoint(data, image); });
    communicator_.sum(image);
    return;
  }
  AdjointOnDevice& part = *own_.on_device();
  together(communicator_, [&] { part.begin_adjoint(data); });
  devices_->sum(part.device_image(), image_size());
  together(communicator_, [&] { part.finish_adjoint(image); });
}

}  // namespace echoform
