"""What NVIDIA's tools and driver print: ``nvidia-smi`` in all its forms, the kernel log, /proc."""
