# Real recordings, where they are at hand: images of files and of streams against the independent reference.
echoform_system_test(system_recordings recordings_test.py ${ECHOFORM_PYTHON})
