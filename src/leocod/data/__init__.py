"""Video on disk: readers of every layout, each giving a `Recording`; what is wrong with one; writing one."""
