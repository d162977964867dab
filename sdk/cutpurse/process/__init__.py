"""What a process needs of its operating system: standard streams, signals, child processes, pools of them."""
