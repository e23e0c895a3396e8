"""What Docker says of containers: ``docker inspect``, ``docker ps``, ``docker port``."""
