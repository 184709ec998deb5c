# The paper's study, small: images of exact sound by back-projection and by models.
echoform_system_test(system_tomography_study tomography_study_test.py)
