#include "apps/program.hpp"

int main(int argc, char** argv) {
  return echoform::run_program(argc, argv);
}
