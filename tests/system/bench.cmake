# Benchmarks on tiny sizes, by backend.
echoform_system_test(system_bench_cpu bench_test.py cpu)
echoform_system_test(system_bench_cuda bench_test.py cuda)
