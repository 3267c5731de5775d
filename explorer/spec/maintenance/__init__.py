"""What Iceberg's maintenance procedures choose."""
