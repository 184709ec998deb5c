# Frames that [imaging] memory_limit does not hold, imaged group by group of their A-scans.
echoform_system_test(system_image_by_groups image_by_groups_test.py)
