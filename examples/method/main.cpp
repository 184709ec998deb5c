// `echoform` with a method of its own: [imaging] method takes "maximum" beside those of the tree.
#include "apps/program.hpp"
#include "maximum_method.hpp"
#include "methods/registry.hpp"

int main(int argc, char** argv) {
  echoform::add_method(make_maximum_method());
  return echoform::run_program(argc, argv);
}
