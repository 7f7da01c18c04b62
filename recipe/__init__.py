"""What the deployment guide states, as data, and the small types that read it.

This is the leaf layer: it imports msgspec, packaging and the standard library, and nothing else.
"""
