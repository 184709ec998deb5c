// The library of OpenIGTLink's makers as a client of two streams, an image and a volume.
#include <gtest/gtest.h>

#ifdef ECHOFORM_WITH_OPENIGTLINK
#include <igtlClientSocket.h>
#include <igtlImageMessage.h>
#include <igtlMessageHeader.h>
#include <igtlTimeStamp.h>

#include <map>
#include <string>

#include "tests/openigtlink/frames.hpp"
#include "transport/openigtlink/openigtlink_sink.hpp"

namespace echoform {
namespace {

struct Received {
  int size[3]{};
  float spacing[3]{};
  igtl::Matrix4x4 matrix{};
  std::uint64_t nanoseconds = 0;
  std::string pixels;
};

/// Images by device, until there is one of each of so many.
std::map<std::string, Received> receive(igtl::ClientSocket& socket, std::size_t devices) {
  std::map<std::string, Received> all;
  while (all.size() < devices) {
    igtl::MessageHeader::Pointer header = igtl::MessageHeader::New();
    header->InitPack();
    if (socket.Receive(header->GetPackPointer(), header->GetPackSize()) != header->GetPackSize()) return all;
    header->Unpack();
    if (std::string(header->GetDeviceType()) != "IMAGE") {
      socket.Skip(header->GetBodySizeToRead(), 0);
      continue;
    }
    igtl::ImageMessage::Pointer image = igtl::ImageMessage::New();
    image->SetMessageHeader(header);
    image->AllocatePack();
    if (socket.Receive(image->GetPackBodyPointer(), image->GetPackBodySize()) != image->GetPackBodySize()) return all;
    const int state = image->Unpack(1);  // with the check sum
    EXPECT_TRUE((state & igtl::MessageHeader::UNPACK_BODY) != 0) << header->GetDeviceName();
    if ((state & igtl::MessageHeader::UNPACK_BODY) == 0) return all;
    Received& received = all[image->GetDeviceName()];
    image->GetDimensions(received.size);
    image->GetSpacing(received.spacing);
    image->GetMatrix(received.matrix);
    EXPECT_EQ(image->GetScalarType(), int{igtl::ImageMessage::TYPE_UINT8});
    EXPECT_EQ(image->GetCoordinateSystem(), int{igtl::ImageMessage::COORDINATE_RAS});
    igtl::TimeStamp::Pointer time = igtl::TimeStamp::New();
    image->GetTimeStamp(time);
    received.nanoseconds = std::uint64_t{time->GetSecond()} * 1'000'000'000U + time->GetNanosecond();
    received.pixels.assign(static_cast<const char*>(image->GetScalarPointer()), static_cast<std::size_t>(image->GetImageSize()));
  }
  return all;
}

void expect_image(const Received& image, const Grid& grid, bool volume, std::uint64_t sequence) {
  ASSERT_EQ(image.pixels.size(), grid.pixels());
  EXPECT_EQ(image.nanoseconds / 1000, 1'700'000'000'250'000u);
  for (std::size_t place = 0; place < grid.pixels(); ++place) {
    EXPECT_EQ(static_cast<std::uint8_t>(image.pixels[place]), openigtlink_frames::pixel(place, sequence));
    // As Slicer has it: from the centre to the corner, then along the directions.
    const std::size_t x = place % grid.x.count;
    const std::size_t rest = place / grid.x.count;
    const std::size_t index[3]{x, volume ? rest % grid.y.count : rest, volume ? rest / grid.y.count : 0};
    const Point at = grid.at(place);
    const double expected[3]{-1e3 * at.x.value, 1e3 * at.y.value, -1e3 * at.z.value};
    for (int row = 0; row < 3; ++row) {
      double got = image.matrix[row][3];
      for (int axis = 0; axis < 3; ++axis) {
        // GetMatrix() tells directions of length 1, GetSpacing() mm.
        got += (static_cast<double>(index[axis]) - 0.5 * (image.size[axis] - 1)) * image.spacing[axis] * image.matrix[row][axis];
      }
      EXPECT_NEAR(got, expected[row], 1e-4);  // single precision, normalised and multiplied again
    }
  }
}

TEST(OpenIgtlinkLibrary, ReceivesAnImageAndAVolumeAtTheRightPlaceAndTime) {
  const openigtlink_frames::Shape shape;
  openigtlink_frames::Frames frames(shape);
  OpenIgtlinkSinkOptions options;
  options.port = 0;
  options.most_per_second = 0.0;
  const auto sink = make_openigtlink_sink(options);
  sink->setup_changed(frames.setup());
  igtl::ClientSocket::Pointer socket = igtl::ClientSocket::New();
  ASSERT_EQ(socket->ConnectToServer("127.0.0.1", sink->port()), 0);
  sink->publish(frames.frame(11));  // kept for who comes later
  const auto images = receive(*socket, 2);
  ASSERT_EQ(images.size(), 2u);
  expect_image(images.at("echoform/LL.display"), shape.plane, false, 11);
  expect_image(images.at("echoform/TT.display"), shape.volume, true, 11);
  socket->CloseSocket();
}

}  // namespace
}  // namespace echoform

#else

TEST(OpenIgtlinkLibrary, ReceivesAnImageAndAVolumeAtTheRightPlaceAndTime) {
  GTEST_SKIP() << "built without OpenIGTLink's library: libopenigtlink-dev";
}

#endif
