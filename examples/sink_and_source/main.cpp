// `echoform` with doors of its own: frames also come from a raw file, and the strongest pixels go into a list.
#include "apps/doors.hpp"
#include "apps/program.hpp"

echoform::SourceDoor raw_file_door();  // raw_file_source.cpp
echoform::SinkDoor strongest_door();   // strongest_sink.cpp

int main(int argc, char** argv) {
  echoform::add_source_door(raw_file_door());
  echoform::add_sink_door(strongest_door());
  return echoform::run_program(argc, argv);
}
