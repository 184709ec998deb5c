"""Which share of a work that is done by turns is this commit's."""
import pathlib
import subprocess
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def turn(shares):
    """From 0 on, another one at each commit. Without a history the day decides."""
    counted = subprocess.run(["git", "-C", str(SOURCE), "rev-list", "--count", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True) if (SOURCE / ".git").exists() else None
    return (int(counted.stdout) if counted and counted.returncode == 0 else int(time.time()) // 86400) % shares
