# What `cmake --install` puts in place besides the programs.
