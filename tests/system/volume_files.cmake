# Volumes out of the program: of a recording and of a live stream, in every format.
echoform_system_test(system_volume_files volume_files_test.py)
